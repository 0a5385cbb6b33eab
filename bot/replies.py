"""Every sentence that a person can read on Telegram."""

from __future__ import annotations

START = (
    "Hello{name}! I am an assistant that never loses the thread: what we talk about is written down before I answer, "
    "and I pick it up again after a pause or a restart.\n\n"
    "Just write to me. /help shows what else I can do."
)
START_OFFLINE = (
    "\n\nNo language model is connected, so I answer as a concierge: I note what you tell me, find it again, "
    "and keep track of what is open. I will always say so rather than pretend."
)
HELP_HEAD = "What I can do:"
HELP_TAIL = "Everything else you write is a message to me."

COMMANDS = {
    "start": "say hello",
    "help": "what I can do",
    "fresh": "start clean; nothing of before is carried over",
    "continue": "take up an earlier conversation again",
    "sessions": "our conversations, by topic and age",
    "settings": "how I take up earlier conversations",
    "persona": "who I am for you",
    "stop": "stop the answer that is being written",
    "retry": "answer my last message again",
    "remind": "remind you of something at a time",
    "jobs": "the reminders that are to come",
    "timezone": "by which clock I read and say times",
    "loops": "what is unfinished between us",
    "memory": "what I remember; /memory <words> searches it",
    "forget": "forget a fact, a message, a conversation or everything",
    "export": "everything that is kept here, as a file",
    "context": "what the model was given for my last answer",
    "summary": "my summary of this conversation",
    "privacy": "what is stored, where, and for how long",
}

FRESH = (
    "Started fresh: I will not bring up anything from before.\n"
    "/continue takes you back to earlier conversations whenever you like."
)
FRESH_FIRST = "This is a fresh start already: we have not talked here before."
NO_SESSIONS = "We have no earlier conversations here yet. Just write to me, and this will be the first."
CONTINUE_HEAD = "Which conversation shall we take up again?"
CONTINUE_ONLY = "There is only the conversation that we are in. /fresh starts another one."
CONTINUED = "We are back in: {title} ({turns}, last {ago}).\nGo on whenever you like."
CONTINUED_LAST = "\n\nThe last thing you wrote there: “{user}”"
SESSIONS_HEAD = "Our conversations here:"
SESSIONS_TAIL = "/continue takes one up again."
SESSION_GONE = "That conversation is not there any more."
CURRENT = "now"
UNTITLED = "no topic yet"

STOPPED = "Stopped. Nothing of that answer was kept."
NOTHING_TO_STOP = "I am not writing anything right now."
NOTHING_TO_RETRY = "There is no message of yours that I could answer again."

PRIVACY = (
    "What I store: what you write to me and what I answer, what I noted from it, and reminders. "
    "It stays in one database and in checkpoint files on the machine of whoever runs this bot.\n\n"
    "What I do not store: anything of people who are not allowed to use me, and in groups anything that is not "
    "addressed to me.\n\n"
    "It is yours: /memory shows what I noted, /export sends you everything, /forget deletes it for good.\n\n"
    "{model}"
)
PRIVACY_OFFLINE = "No language model is connected: nothing leaves that machine except these messages through Telegram."
PRIVACY_MODEL = "To answer, I send your message and the relevant past to the language model “{model}”."

STRANGER = "Sorry, this is a private assistant, and you are not on its list."
STRANGER_PAIRING = "This assistant is not set up yet. If it is yours, send me the pairing code that its console shows."
PAIRED = "Paired: from now on I am yours. /help shows what I can do."

UNKNOWN_COMMAND = "I do not know /{command}. /help shows what I can do."
UNREADABLE = "I couldn't read that: it came in a form that I don't know. Could you send it again as plain text?"
ONLY_TEXT = "I can only read text so far, so I did not take in your {what}. Could you put it into words?"
MEDIA_NAMES = {"video_note": "video message", "voice": "voice message", "animation": "GIF", "unique_gift": "gift"}

MODEL_DOWN = "I could not get an answer just now: {why} Your message is safe; nothing was lost."
WHY_TIMEOUT = "the language model did not reply in time."
WHY_BUSY = "the language model is overloaded."
WHY_BROKEN = "the connection to the language model failed."
WHY_GARBAGE = "the language model sent something that I cannot read."
WHY_REFUSED = "the language model refused the request; whoever runs me should check the key and the model's name."
WHY_BUDGET = "today's budget for the language model is used up; it is renewed at midnight."
TRY_AGAIN = "Try again"
TOO_LONG = (
    "That was a lot at once: I read the beginning and the end, {read} of {whole} characters. "
    "If the middle matters, send it to me in smaller pieces."
)
STORAGE_REFUSED = "I couldn't save that, so I've left it undone. Your message is safe; nothing was lost."
STORAGE_DOWN = "I can't save anything just now, so I can't answer. I'll do it as soon as I can; no need to write again."

INTERRUPTED = "I was answering this when I was interrupted, {ago}:\n“{text}”\n\nShall I answer it now?"
ANSWER_NOW = "Answer now"
SKIP = "Skip"
FRESH_START = "Fresh start"
SKIPPED = "Skipped."
QUARANTINED = (
    "I am sorry: I failed on your message again and again and have put it aside so that it does not hold up the rest. "
    "Please say it in other words."
)
EDITED = "You changed a message that I have answered already."
ANSWER_AGAIN = "Answer again"

REMINDER = "⏰ {title}"
FOLLOW_UP = "🔔 As I said I would, I come back to this: {title}"
WAS_DUE = "was due {ago}"
REMIND_SET = "I will remind you {when} ({zone}): {title}"
REMIND_ZONE_HINT = "If {zone} is not your clock, tell me yours: /timezone Europe/Berlin"
REMIND_HOW = (
    "Say when and what, for example:\n"
    "/remind tomorrow at 9 call Ana\n"
    "/remind in 20 minutes take the pizza out\n"
    "/remind on 12 December at 18:30 book the table\n\n"
    "Plain words do as well: “remind me on Friday to send the report”. /jobs shows what is to come.\n"
    "Your time zone is {zone}: it is {when} there. /timezone changes it."
)
REMIND_UNCLEAR = (
    "I do not understand when that is, so I set nothing: “{said}”\n"
    "Which time do you mean? For example: /remind tomorrow at 9 call Ana"
)
REMIND_NO_WHAT = "What shall I remind you of {when}? Say both together, for example: /remind tomorrow at 9 call Ana"
WHY_ENDLESS = "the language model went on using its tools instead of answering."
REMIND_TOOL = "The reminder is set {when} ({zone}): {title}"
REMIND_WHEN = "When shall I remind you of it?"
REMIND_WHAT = "What shall I remind you of then?"
JOBS_HEAD = "To come:"
JOBS_LATE = "⏰ These are due:"
JOBS_MORE = "… and {count} more"
JOBS_NONE = "Nothing is planned. /remind tomorrow at 9 call Ana sets a reminder."
JOB_DONE = "Done"
JOB_HOUR = "Snooze 1 h"
JOB_TOMORROW = "Tomorrow"
JOB_CANCEL = "Cancel"
JOB_UNDO = "Change my mind"
JOB_DONE_TEXT = "Done: {title}"
JOB_CANCELLED_TEXT = "Taken back, I will not remind you: {title}"
JOB_SNOOZED_TEXT = "Put off until {when}: {title}"
JOB_GONE = "That reminder is over already."
ZONE_IS = "Your time zone is {zone}: it is {now} there.\nTo change it, name a city or a zone: /timezone Europe/Berlin"
ZONE_SET = "Your time zone is {zone} now: it is {now} there. Reminders that are set already keep their time."
ZONE_UNKNOWN = "I know no time zone “{said}”. Name it like this: /timezone Europe/Berlin, or /timezone New York"

PART_LOST = "I couldn't send a part of what I had to say: Telegram wouldn't take it. /retry asks me for it again."
TAP_TOO_OLD = "This button is too old; please ask again."
TAP_USED = "This was chosen already."
TAP_NOT_YOURS = "This button is for somebody else."
TAP_DONE = "Done"

# --- carrying context forward -----------------------------------------------------------------------------------------

CARRY_ON = "Continue"
START_FRESH = "Start fresh"
ALWAYS = "Always do this"
GO_ON = "Go on"
DROP = "✕ {title}"
CARRY_FORWARD = "Carry this forward"
CARRY_HEAD = "This I can carry forward:"
CARRYING = "Carrying this forward:"
NOTHING_LEFT = "Nothing is carried forward then."
OFFER_PASSED = "I went on without bringing up anything from before. /continue shows it whenever you like."
OFFER_OVER = "We have gone on since. /continue shows what I can carry forward now."
CONTINUE_HEAD_TOO = "Or shall we take up one of these conversations again?"

SETTINGS = (
    "When a new conversation begins: {choice}\n\n"
    "This holds for the persona “{persona}”; /persona shows the others.\nYour time zone: {zone}"
)
SETTINGS_MODES = {
    "ask": "I ask whether to carry earlier context forward.",
    "use": "I carry earlier context forward.",
    "off": "I carry nothing forward and prepare nothing. /continue still works.",
}
SETTINGS_LABELS = {"ask": "Ask", "use": "Use", "off": "Off"}
SETTINGS_PREVIEW_ON = "I show you what it is."
SETTINGS_PREVIEW_OFF = "I do not show what it is and do not ask."
SETTINGS_SKIP = "Skip the preview"
CHOSEN = "✓"
ONLY_PEOPLE = "I cannot see who you are here, so there is nothing to choose."
PERSONA_HEAD = "I can be:"
PERSONA_LINE = "• {name}: {tone}{now}"
PERSONA_NOW = " (now)"
PERSONA_TAIL = "What I know of earlier conversations is framed to fit. It changes with my next answer."

# --- open loops -----------------------------------------------------------------------------------------------------

LOOPS_HEAD = "This is open between us:"
LOOPS_NONE = "Nothing is open between us: no promise, no question, no task."
LOOPS_MORE = "… and {count} more; they come up when these are settled."
QUOTED = "“{text}”"
LOOP_YOURS = "yours"
LOOP_MINE = "mine"
LOOP_DUE = "due {when}"
LOOP_OVERDUE = "overdue"
LOOP_SLEEPS = "sleeps until {when}"
LOOP_DONE = "Done"
LOOP_SNOOZE = "Snooze"
LOOP_DROP = "Drop"
LOOP_GONE = "That matter is not on my list any more. /loops shows what is."

# --- memory ---------------------------------------------------------------------------------------------------------

MEMORY_KINDS = {"fact": "Fact", "preference": "Preference", "decision": "Decision"}
MEMORY_HEAD = "This is what I remember of what you told me here:"
MEMORY_HEAD_GROUP = "This is what I remember of what you told me in this group:"
MEMORY_NONE = "I have noted nothing lasting yet. When you tell me a fact, a preference or a decision, it shows up here."
MEMORY_NONE_GROUP = (
    "I have noted nothing lasting of what you told me in this group. What you tell me in private never shows here."
)
MEMORY_FOUND = "This is what I remember about “{words}”:"
MEMORY_NOT_FOUND = "I remember nothing about “{words}”. /memory lists everything."
MEMORY_MORE = "… and {count} more."
SHOW_MORE = "Show more"
FORGET_NUMBER = "Forget {number}"

# --- forgetting -----------------------------------------------------------------------------------------------------

FORGET_MENU = (
    "What shall I forget?\n"
    "To forget one thing, write /forget and a word or two that were said, for example: /forget my address"
)
FORGET_LAST = "My last message and your answer"
FORGET_SESSION = "This conversation"
FORGET_ALL = "Everything here"
NEVER_MIND = "Never mind"
FORGET_YES = "Yes, forget it"
FORGET_ASK = {
    "last": "Shall I forget your last message and my answer to it?\n“{quoted}”",
    "session": "Shall I forget this conversation, from its first message to its last, with what I noted from it?",
    "everything": "Shall I forget everything we ever said here: all conversations, notes, summaries and reminders?",
    "found": "Shall I forget this? The messages in which it was said go with it, and my answers to them.",
}
FORGET_ASK_GROUP = {
    "last": FORGET_ASK["last"],
    "session": "Shall I forget what you said in this conversation? What others said stays.",
    "everything": "Shall I forget everything that you ever said here? What others said stays.",
    "found": FORGET_ASK["found"],
}
FORGET_FINAL = (
    "\n\nIt cannot be undone. Reminders that were set there are cancelled. What Telegram itself shows in this chat "
    "you can only delete there, and backups that were made before are beyond my reach."
)
FORGET_FOUND = "This is where “{words}” stands:"
FORGET_FOUND_MORE = "… and {count} more."
FORGET_ALL_FOUND = "All {count} of them"
FORGET_SAID = "A message and its answer: “{text}”"
FORGET_NOT_FOUND = "I find nothing about “{words}” here, so there is nothing to forget."
FORGET_NOTHING_HERE = "There is nothing to forget here: nothing has been said."
FORGET_REFUSED = (
    "I couldn't forget anything: one of my files can't be deleted just now. It's all still there. "
    "Whoever runs me will find the reason in the log; then please ask me again."
)
FORGET_KEPT = "Nothing was forgotten."
FORGOTTEN = "Forgotten: {what}."
FORGOTTEN_NOTHING = "nothing, it was gone already"
FORGOTTEN_LOOKING = "I am looking whether a trace is left in my files …"
FORGOTTEN_PROVEN = "Checked: no trace in {files}."
FORGOTTEN_TRACES = (
    "Its rows are gone, but I can still see traces in my files, since another program is reading them. "
    "They go with my next start."
)
FORGOTTEN_ASIDE = (
    "A copy of my data from before a backup was restored is still there ({names}) and may hold it. "
    "Whoever runs me can delete it."
)
FORGOTTEN_ECHOES = "Words of it still stand in {count} of mine:"
FORGET_THOSE_TOO = "Forget those too"
FORGOTTEN_UNKNOWN = "I could not look through my files in time; its rows are gone all the same."

# --- export ---------------------------------------------------------------------------------------------------------

EXPORT_CAPTION = "Everything that is kept about this chat, as JSON: {what}."
EXPORT_GROUP = (
    "A file with your words would be there for everybody in this group. Whoever runs me can make it with "
    "`continuity-bot export`; in our private chat /export sends you what is kept there."
)
EXPORT_NOTHING = "Nothing is kept here yet, so there is nothing to export."
EXPORT_TOO_BIG = (
    "What is kept here is larger than Telegram lets me send. Whoever runs me can write it to a file with "
    "`continuity-bot export`."
)
EXPORT_FAILED = "I could not send the file just now ({why}). Please ask again later."

# --- the receipt ----------------------------------------------------------------------------------------------------

TIER_NAMES = {
    "history": "Messages as they were",
    "summary": "Summary",
    "retrieved": "Found in the past",
    "today": "Earlier today",
    "threads": "Open matters",
    "last_conversation": "Last conversation",
}
TIER_ITEMS = {
    "history": "turn",
    "summary": "note",
    "retrieved": "find",
    "today": "note",
    "threads": "matter",
    "last_conversation": "note",
}
TIER_CUT = "{items} left out ({tokens} tokens)"
TIER_FAILED = "could not be read, so it was left out"
CONTEXT_HEAD = "What the model was given of the past for my last answer ({ago}), in tokens:"
CONTEXT_BESIDE = (
    "Beside these: instructions {instructions}, tools {tools}, carried forward {carried}, your message {message}."
)
CONTEXT_READING = "Read for my notes by the model {times}: {tokens} tokens, {kept} notes kept."
CONTEXT_TOTAL = "{bar} Together: {total} of {cap}"
CONTEXT_NONE = "There is no answer in this conversation yet, so nothing was given to the model."
COMPACTED = (
    "Messages {first} to {last} are in the summary since {ago}, {how}: {before} tokens became {after}. "
    "Their words are kept."
)
COMPACTION_METHODS = {
    "deterministic": "written by rules",
    "model": "written by a model and checked",
    "truncation": "left out without a summary",
}
COMPACTION_UNDO = "Undo: show them word for word again"
COMPACTION_UNDONE = "Undone: the messages are shown word for word again, as far as there is room."
COMPACTION_GONE = "That was undone or replaced already. /context shows how it is now."
SUMMARY_HEAD = "My summary of this conversation:"
SUMMARY_NOT_YET = "There is no summary yet: I still have all of it word for word ({turns})."
SUMMARY_NONE = "Nothing has been said in this conversation yet, so there is nothing to sum up."


def plural(count: int, word: str) -> str:
    """Return `1 turn`, `2 turns`."""
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def ago(elapsed_ms: int) -> str:
    """Return how long ago something was, in the largest sensible unit."""
    seconds = max(0, elapsed_ms) // 1000
    for length, word in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= length:
            return f"{plural(seconds // length, word)} ago"
    return "just now"


def shorten(text: str, max_chars: int = 120) -> str:
    """Return the text on one line, cut at a word with an ellipsis when it is longer."""
    line = " ".join(text.split())
    return line if len(line) <= max_chars else line[: max_chars - 1].rsplit(" ", 1)[0] + "…"


def help_text(commands: dict[str, str]) -> str:
    """Return the list of commands for /help."""
    lines = [f"/{name} - {what}" for name, what in commands.items()]
    return "\n".join([HELP_HEAD, *lines, "", HELP_TAIL])
