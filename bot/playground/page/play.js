"use strict";
// The messenger page: asks for what changed, shows it where it stands, sends what is typed, chosen or pressed.

const at = (id) => document.getElementById(id);
const OURS = { "X-Play-Token": document.querySelector("meta[name=play-token]").content };
const TRY = ["My dog is called Rex and he is four years old.", "I need to call the landlord by Friday about the heating.", "What is still open?"];
const MAX_BYTES = 20 * 1024 * 1024;
const kept = (name) => Number(sessionStorage.getItem(name) || 0);
let chat = kept("chat"), writer = kept("writer"), version = "", commands = [], lastState = "", aborter = null, drawn = "";
const seen = new Map(), places = new Map();

async function act(what, body) {
  try {
    const answer = await fetch(`/play/act/${what}`, { method: "POST", headers: { "Content-Type": "application/json", ...OURS }, body: JSON.stringify(body || {}) });
    if (!answer.ok) note((await answer.json()).error || "That didn't work.");
    return answer.ok;
  } catch {
    ended();
    return false;
  }
}

function ended() {
  at("bot").textContent = "the playground has ended";
  at("bot").className = "pill failed";
  at("trouble").hidden = false;
  at("trouble").textContent = "The playground has ended. Start it again, and this page goes on by itself.";
}

// --- the conversation: nodes stay where they are, so that focus and what a screen reader has read stay too

function note(text) {
  at("log").append(make("div", "event note", text));
  end();
}

let atEnd = true;
const end = () => { at("talk").scrollTop = at("talk").scrollHeight; };
at("talk").addEventListener("scroll", () => { atEnd = at("talk").scrollHeight - at("talk").scrollTop - at("talk").clientHeight < 80; });
const room = new ResizeObserver(() => { if (atEnd) end(); }); // a picture has come, or the window changed
for (const id of ["talk", "log"]) room.observe(at(id));
const press = (messageId, data) => act("press", { user_id: writer, chat_id: chat, message_id: messageId, data });

function dayOf(seconds, nowMs) {
  const day = new Date(seconds * 1000), away = Math.round((new Date(nowMs).setHours(0, 0, 0, 0) - new Date(day).setHours(0, 0, 0, 0)) / 86400000);
  if (away === 0) return "Today";
  return away === 1 ? "Yesterday" : day.toLocaleDateString([], { weekday: "long", day: "numeric", month: "long" });
}

// What stands in the conversation, in order: [key, fingerprint, how to make it].
function wanted(state, isGroup) {
  const items = [], events = [...state.events];
  let day = "";
  const passed = (before) => {
    while (events.length && events[0].after < before) {
      const one = events.shift();
      items.push([`event ${one.number}`, one.text, () => make("div", "event", one.text)]);
    }
  };
  for (const line of state.lines) {
    passed(line.message_id);
    const on = new Date(line.at_s * 1000).toDateString();
    if (on !== day) {
      const shown = dayOf(line.at_s, state.now_ms);
      items.push([`day ${on}`, shown, () => make("div", "day", shown)]);
    }
    day = on;
    items.push([`line ${line.message_id}`, JSON.stringify([line, writer]), () => message(line, isGroup)]);
  }
  passed(Infinity);
  return items;
}

function message(line, isGroup) {
  const mine = isMine(line, writer), row = make("div", `row ${mine ? "mine" : ""}`);
  if (isGroup && !mine) row.append(avatar(nameOf(line), line.by_bot ? 0 : line.user_id));
  const column = make("div", "column");
  column.append(bubble(line, isGroup, writer));
  if (line.by_bot && line.buttons.length) column.append(keys(line, press));
  row.append(column);
  return row;
}

function show(state) {
  const isGroup = state.chats.some((one) => one.id === chat && one.group), log = at("log");
  const whole = drawn !== `${chat} ${writer}`, was = document.activeElement, isHere = log.contains(was);
  let instead = null; // takes the focus of a button whose message is drawn again
  if (whole) { log.setAttribute("aria-live", "off"); log.replaceChildren(); places.clear(); drawn = `${chat} ${writer}`; }
  const items = wanted(state, isGroup), left = new Set(items.map(([key]) => key));
  for (const [key, [node]] of places) if (!left.has(key)) { node.remove(); places.delete(key); }
  log.querySelector(".empty")?.remove();
  let place = log.firstChild;
  for (const [key, print, draw] of items) {
    const there = places.get(key);
    while (place && place.classList.contains("note")) place = place.nextSibling; // ours stand where they came
    if (there && there[1] === print) { place = there[0].nextSibling; continue; }
    const node = draw();
    if (isHere && there && there[0].contains(was)) {
      const fresh = [...node.querySelectorAll(".keys button, .keys a")];
      instead = fresh.find((one) => one.textContent === was.textContent) || fresh[0];
    }
    if (there) there[0].replaceWith(node); else log.insertBefore(node, place);
    places.set(key, [node, print]);
    place = node.nextSibling;
  }
  if (!state.lines.length) log.prepend(empty(isGroup));
  if (isHere && !was.isConnected) (instead || at("text")).focus({ preventScroll: true });
  if (whole) requestAnimationFrame(() => log.setAttribute("aria-live", "polite"));
  const draft = state.draft || (state.typing ? "typing …" : "");
  if (at("draft").textContent !== draft) at("draft").replaceChildren(...(draft ? [make("div", "line bot draft", draft)] : []));
  if (whole) atEnd = true;
  if (atEnd) end();
}

function empty(isGroup) {
  const box = make("div", "empty");
  if (isGroup) {
    box.append(make("p", "", "You and Ana. The bot answers when it's mentioned: @continuity_bot"));
    return box;
  }
  box.append(make("p", "", "Say something, or begin with one of these. Then try +8 hours, or kill -9 in the middle of an answer."));
  for (const text of TRY) {
    const button = make("button", "quiet", text);
    button.onclick = () => { at("text").focus(); say(text); };
    box.append(button);
  }
  return box;
}

// --- chats, and who writes

function list(state) {
  const box = at("chats");
  for (const one of state.chats) {
    if (one.id === chat) seen.set(one.id, one.count);
    if (!seen.has(one.id)) seen.set(one.id, one.count);
    const fresh = Math.max(0, one.count - seen.get(one.id)), id = `chat${one.id}`;
    let button = at(id);
    if (!button) {
      button = make("button");
      button.id = id;
      button.append(avatar(one.title, one.id), make("span", "about"), make("span", "fresh"));
      button.onclick = () => open(one);
      box.append(button);
    }
    const [, about, badge] = button.children, title = one.group ? `${one.title} (group)` : one.title;
    if (about.dataset.is !== title + one.last) {
      about.dataset.is = title + one.last;
      about.replaceChildren(make("span", "title", title), make("small", "", one.last || "nothing yet"));
    }
    badge.textContent = fresh ? String(fresh) : "";
    badge.title = fresh ? `${fresh} new` : "";
    if (one.id === chat) button.setAttribute("aria-current", "true"); else button.removeAttribute("aria-current");
  }
  const ids = new Set(state.chats.map((one) => `chat${one.id}`));
  for (const button of [...box.children]) if (!ids.has(button.id)) button.remove();
}

function open(one) {
  chat = one.id;
  if (!one.group) writer = one.id;
  renew();
}

function renew() {
  sessionStorage.setItem("chat", String(chat));
  sessionStorage.setItem("writer", String(writer));
  version = "";
  if (aborter) aborter.abort();
}

function settle(state) {
  const found = state.chats.find((one) => one.id === chat) || state.chats.find((one) => one.id === state.you);
  const people = state.people.map((one) => one.id), was = [chat, writer].join();
  if (found) chat = found.id;
  if (found && !found.group) writer = found.id;
  else if (!people.includes(writer)) writer = state.you;
  if (!at("who").options.length) at("who").append(...state.people.map((one) => new Option(one.name, String(one.id))));
  at("as").hidden = !(found && found.group);
  at("who").value = String(writer);
  const mate = state.people.find((one) => one.id === writer);
  at("text").placeholder = writer === state.you ? "Write a message" : `Write as ${mate.name}`;
  return was === [chat, writer].join();
}

// --- how the bot is

function tell(state) {
  const { bot } = state;
  if (at("bot").textContent !== bot.state) at("bot").textContent = bot.state;
  at("bot").className = `pill ${bot.state}`;
  at("trouble").hidden = bot.state !== "failed";
  if (at("trouble").textContent !== bot.note) at("trouble").textContent = bot.state === "failed" ? bot.note : "";
  const now = new Date(state.now_ms);
  at("clock").textContent = now.toLocaleString([], { weekday: "short", day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", timeZoneName: "short" }) + (state.ahead_ms ? " (moved)" : "");
  const isBack = bot.state === "running" && lastState && lastState !== "running";
  lastState = bot.state;
  if (isBack) at("console").contentWindow.location.reload(); else lookAgain();
}

function lookAgain() { // the console was not there yet
  const shown = at("console").contentDocument;
  if (lastState === "running" && shown?.readyState === "complete" && shown.querySelector(".empty a[href='']")) shown.location.reload();
}

async function follow() {
  for (;;) {
    try {
      aborter = new AbortController();
      const answer = await fetch(`/play/state/${chat}?since=${version}`, { signal: aborter.signal, headers: OURS });
      if (answer.status === 403) { await new Promise((done) => setTimeout(done, 1000)); location.reload(); return; }
      const state = await answer.json();
      version = state.version;
      commands = state.commands;
      tell(state);
      if (!settle(state)) { renew(); continue; }
      list(state);
      show(state);
    } catch (error) {
      if (error.name !== "AbortError") { ended(); await new Promise((done) => setTimeout(done, 1000)); }
    }
  }
}

// --- what is typed, chosen and pressed

function hints() {
  const typed = at("text").value, box = at("hints");
  const found = /^\/\w*$/.test(typed) ? commands.filter((one) => `/${one.command}`.startsWith(typed)) : [];
  box.hidden = !found.length;
  box.replaceChildren(...found.map((one) => {
    const item = make("li"), button = make("button", "", `/${one.command} `);
    button.type = "button";
    button.append(make("small", "", one.description));
    button.onclick = () => { at("text").value = `/${one.command}`; box.hidden = true; at("text").focus(); };
    item.append(button);
    return item;
  }));
}

const say = (text) => act("say", { user_id: writer, chat_id: chat, text });
const grow = () => { at("text").style.height = "auto"; at("text").style.height = `${Math.min(at("text").scrollHeight, 144)}px`; };
const base64 = (file) => new Promise((done, failed) => {
  const reader = new FileReader();
  reader.onload = () => done(String(reader.result).split(",")[1] || "");
  reader.onerror = () => failed(reader.error);
  reader.readAsDataURL(file);
});

async function send(file) {
  if (file.size > MAX_BYTES) { note(`${file.name} is larger than the 20 MB that a bot may fetch.`); return; }
  const text = at("text").value, to = { user_id: writer, chat_id: chat };
  at("text").value = "";
  grow();
  if (!(await act("send", { ...to, name: file.name, type: file.type, data: await base64(file), text }))) at("text").value = text;
  at("text").focus();
}

at("attach").onclick = () => at("file").click();
at("file").onchange = async () => { const [file] = at("file").files; at("file").value = ""; if (file) await send(file); };
at("text").onpaste = (event) => { const [file] = event.clipboardData.files; if (file) { event.preventDefault(); send(file); } };
at("talk").ondragover = (event) => event.preventDefault();
at("talk").ondrop = (event) => { event.preventDefault(); const [file] = event.dataTransfer.files; if (file) send(file); };
at("who").onchange = () => { writer = Number(at("who").value); renew(); };
at("form").onsubmit = async (event) => {
  event.preventDefault();
  const text = at("text").value;
  if (!text.trim()) return;
  at("text").value = "";
  hints();
  grow();
  if (!(await say(text)) && !at("text").value) { at("text").value = text; grow(); }
};
at("text").onkeydown = (event) => {
  const shown = [...at("hints").querySelectorAll("button")];
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) { event.preventDefault(); at("form").requestSubmit(); }
  if (event.key === "ArrowUp" && shown.length) { event.preventDefault(); shown[shown.length - 1].focus(); }
  if (event.key === "Escape") at("hints").hidden = true;
};
at("hints").onkeydown = (event) => {
  const shown = [...at("hints").querySelectorAll("button")], place = shown.indexOf(document.activeElement);
  if (event.key === "ArrowUp" && place > 0) { event.preventDefault(); shown[place - 1].focus(); }
  if (event.key === "ArrowDown") { event.preventDefault(); (shown[place + 1] || at("text")).focus(); }
  if (event.key === "Escape") { at("hints").hidden = true; at("text").focus(); }
};
at("text").oninput = () => { hints(); grow(); };
at("hour").onclick = () => act("skip", { hours: 1 });
at("later").onclick = () => act("skip", { hours: 8 });
at("day").onclick = () => act("skip", { hours: 24 });
at("kill").onclick = () => act("kill");
at("reset").onclick = () => { if (confirm("Forget everything in this playground?")) act("reset"); };
const narrow = matchMedia("(max-width: 60rem)");
const tellSide = () => {
  const both = document.body.classList.contains("both");
  at("side").setAttribute("aria-pressed", String(narrow.matches ? both : !document.body.classList.contains("alone")));
  at("aside").role = narrow.matches && both ? "main" : "complementary"; // the console is there in the talk's place
};
at("side").onclick = () => { document.body.classList.toggle(narrow.matches ? "both" : "alone"); tellSide(); };
narrow.onchange = tellSide;
at("console").onload = () => setTimeout(lookAgain, 1000);
tellSide();
follow();
