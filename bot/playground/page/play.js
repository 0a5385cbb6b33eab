"use strict";
// The messenger page: asks for what changed, shows it, sends what is typed or pressed.

const at = (id) => document.getElementById(id);
const YOU = 1000001, ANA = 1000002;
const ENDED = "the playground has ended";
const OURS = { "X-Play-Token": document.querySelector("meta[name=play-token]").content };
const TRY = ["My dog is called Rex and he is four years old.", "I need to call the landlord by Friday about the heating.", "What is still open?"];
let chat = YOU, version = "", commands = [], shown = "", events = [], lastState = "", writer = YOU, aborter = null;

const make = (tag, className, text) => {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = text;
  return node;
};

async function act(what, body) {
  try {
    const answer = await fetch(`/play/act/${what}`, { method: "POST", headers: { "Content-Type": "application/json", ...OURS }, body: JSON.stringify(body || {}) });
    if (!answer.ok) note((await answer.json()).error || "That didn't work.");
    return answer.ok;
  } catch {
    at("bot").textContent = ENDED;
    return false;
  }
}

function note(text) {
  events.push({ chat, after: Number.MAX_SAFE_INTEGER, text });
  shown = "";
}

// Telegram's entities count UTF-16 units, as JavaScript's strings do.
const TAGS = { bold: "b", italic: "i", underline: "u", strikethrough: "s", code: "code", pre: "pre", blockquote: "blockquote", expandable_blockquote: "blockquote" };
function rich(node, text, entities, from, to) {
  let here = from;
  const inside = entities.filter((one) => one.offset >= from && one.offset + one.length <= to);
  while (inside.length) {
    const one = inside.shift(), end = one.offset + one.length;
    if (one.offset < here) continue;
    node.append(text.slice(here, one.offset));
    const link = one.type === "text_link" && /^https?:/.test(one.url || "");
    const part = document.createElement(link ? "a" : TAGS[one.type] || "span");
    if (link) { part.href = one.url; part.rel = "noreferrer"; part.target = "_blank"; }
    rich(part, text, inside.filter((each) => each.offset + each.length <= end), one.offset, end);
    node.append(part);
    here = end;
  }
  node.append(text.slice(here, to));
}

function bubble(line, isGroup) {
  const mine = !line.by_bot && (!isGroup || line.who === at("who").selectedOptions[0].text);
  const node = make("div", `line ${mine ? "mine" : line.by_bot ? "bot" : "other"}`);
  if (isGroup || line.edits) node.append(make("span", "who", `${line.by_bot ? "Continuity" : line.who}${line.edits ? " · edited" : ""}`));
  rich(node, line.text, [...line.entities].sort((a, b) => a.offset - b.offset || b.length - a.length), 0, line.text.length);
  if (line.file_name) node.append(make("span", "who", `file: ${line.file_name}`));
  return node;
}

function keys(line) {
  const box = make("div", "keys");
  let number = 0;
  for (const row of line.buttons) {
    const div = make("div");
    for (const text of row) {
      const data = line.presses[number++];
      const button = make("button", "", text);
      button.onclick = () => act("press", { user_id: writer, chat_id: chat, message_id: line.message_id, data });
      div.append(button);
    }
    box.append(div);
  }
  return box;
}

function show(state) {
  const isGroup = state.chats.some((one) => one.id === chat && one.group);
  const fresh = JSON.stringify([chat, writer, state.lines, state.draft, state.typing, events.length]);
  if (fresh === shown) return;
  shown = fresh;
  const talk = at("talk"), atEnd = talk.scrollHeight - talk.scrollTop - talk.clientHeight < 80;
  talk.replaceChildren();
  if (!state.lines.length) talk.append(empty(isGroup));
  const here = events.filter((one) => one.chat === chat);
  for (const line of state.lines) {
    for (const one of here.filter((each) => each.after < line.message_id && !each.done)) { talk.append(make("div", "event", one.text)); one.done = true; }
    talk.append(bubble(line, isGroup));
    if (line.by_bot && line.buttons.length) talk.append(keys(line));
  }
  here.filter((one) => !one.done).forEach((one) => talk.append(make("div", "event", one.text)));
  here.forEach((one) => { one.done = false; });
  if (state.draft) talk.append(make("div", "line bot draft", state.draft));
  else if (state.typing) talk.append(make("div", "line bot draft", "typing …"));
  if (atEnd) talk.scrollTop = talk.scrollHeight;
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

function list(chats) {
  const box = at("chats");
  box.replaceChildren();
  for (const one of chats) {
    const button = make("button", "", one.group ? `${one.title} (group)` : one.title);
    button.append(make("small", "", one.last || "nothing yet"));
    if (one.id === chat) button.setAttribute("aria-current", "true");
    button.onclick = () => { chat = one.id; writer = one.group ? writer : one.id; version = ""; shown = ""; if (aborter) aborter.abort(); };
    box.append(button);
  }
  const group = chats.some((one) => one.id === chat && one.group);
  at("who").hidden = !group;
  if (!group) writer = chat;
  else if (![YOU, ANA].includes(writer)) writer = YOU;
  at("who").value = String(writer);
}

function tell(state) {
  const { bot } = state;
  at("bot").textContent = bot.state;
  at("bot").className = `pill ${bot.state}`;
  const now = new Date(state.now_ms);
  at("clock").textContent = now.toLocaleString([], { weekday: "short", day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" }) + (state.ahead_ms ? " (moved)" : "");
  if (bot.state !== lastState) {
    const last = state.lines.length ? state.lines[state.lines.length - 1].message_id : 0;
    if (bot.state === "killed") events.push({ chat, after: last, text: `the bot was ${bot.note}` });
    if (bot.state === "running" && lastState) events.push({ chat, after: last, text: bot.note ? `it's back: ${bot.note}` : "it's back, nothing was unfinished" });
    if (bot.state === "failed") events.push({ chat, after: last, text: bot.note });
    if (bot.state === "running") at("console").contentWindow.location.reload();
    lastState = bot.state === "starting" && !lastState ? "" : bot.state;
  }
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
      list(state.chats);
      show(state);
    } catch (error) {
      if (error.name !== "AbortError") { at("bot").textContent = ENDED; await new Promise((done) => setTimeout(done, 1000)); }
    }
  }
}

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

for (const [id, name] of [[YOU, "You"], [ANA, "Ana"]]) at("who").append(new Option(name, String(id)));
at("who").onchange = () => { writer = Number(at("who").value); version = ""; if (aborter) aborter.abort(); };
const say = (text) => act("say", { user_id: writer, chat_id: chat, text });
const grow = () => { at("text").style.height = "auto"; at("text").style.height = `${Math.min(at("text").scrollHeight, 144)}px`; };
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
at("reset").onclick = () => { if (confirm("Forget everything in this playground?")) { events = []; act("reset"); } };
const narrow = matchMedia("(max-width: 60rem)");
const tellSide = () => at("side").setAttribute("aria-pressed", String(narrow.matches ? document.body.classList.contains("both") : !document.body.classList.contains("alone")));
at("side").onclick = () => { document.body.classList.toggle(narrow.matches ? "both" : "alone"); tellSide(); };
narrow.onchange = tellSide;
tellSide();
follow();
