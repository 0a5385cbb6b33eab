-- A log-out of the console ends the login for every process, also after a restart.

-- Logins of the console that were ended before their time; kept until they would have ended anyway.
CREATE TABLE console_logouts (
    login_id TEXT PRIMARY KEY,                -- the random part of the login's cookie, without its signature
    until_ms BIGINT NOT NULL                  -- when the login would have ended by itself
);
