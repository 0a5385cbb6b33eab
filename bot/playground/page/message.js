"use strict";
// One message as a messenger shows it: formatting, pictures and files, buttons, its time. No state but the files' bytes.

const make = (tag, className, text) => {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = text;
  return node;
};

// Telegram's entities count UTF-16 units, as JavaScript's strings do.
const TAGS = { bold: "b", italic: "i", underline: "u", strikethrough: "s", spoiler: "mark", code: "code", pre: "pre", blockquote: "blockquote", expandable_blockquote: "blockquote" };
const BLOCKS = new Set(["pre", "blockquote", "expandable_blockquote"]);

function address(one, text) {
  const url = one.type === "text_link" ? one.url : one.type === "url" ? text.slice(one.offset, one.offset + one.length) : "";
  if (/^https?:\/\//i.test(url || "")) return url;
  return one.type === "url" ? `https://${url}` : "";
}

function rich(node, text, entities, from, to) {
  let here = from, block = false;
  const inside = entities.filter((one) => one.offset >= from && one.offset + one.length <= to);
  const plain = (begin, end, isLast) => {
    let piece = text.slice(begin, end);
    if (block) piece = piece.replace(/^\n+/, "");
    if (!isLast) piece = piece.replace(/\n+$/, "");
    if (piece) node.append(piece);
  };
  while (inside.length) {
    const one = inside.shift(), end = one.offset + one.length;
    if (one.offset < here) continue;
    const isBlock = BLOCKS.has(one.type), link = address(one, text);
    plain(here, one.offset, !isBlock);
    const part = document.createElement(link ? "a" : TAGS[one.type] || "span");
    if (link) { part.href = link; part.rel = "noreferrer noopener"; part.target = "_blank"; }
    if (one.type === "pre") part.tabIndex = 0;
    rich(part, text, inside.filter((each) => each.offset + each.length <= end), one.offset, end);
    node.append(part);
    here = end;
    block = isBlock;
  }
  plain(here, to, true);
}

const blobs = new Map();
function bytes(fileId) {
  if (!blobs.has(fileId)) {
    blobs.set(fileId, fetch(`/play/file/${fileId}`, { headers: OURS }).then(async (answer) => {
      if (!answer.ok) throw new Error((await answer.json()).error);
      return answer.blob();
    }));
  }
  return blobs.get(fileId);
}

const nameOf = (line) => (line.by_bot ? "Continuity" : line.who);
const isMine = (line, writer) => !line.by_bot && line.user_id === writer;

function fileOf(line) {
  const box = make("div", "file");
  if (line.media === "photo") {
    const picture = make("img");
    picture.alt = line.text ? "" : `A picture from ${nameOf(line)}`;
    bytes(line.file_id).then((blob) => { picture.src = URL.createObjectURL(blob); }, (error) => box.replaceChildren(make("span", "hint", `A picture: ${error.message}.`)));
    box.append(picture);
    return box;
  }
  const name = line.file_name || line.media, button = make("button", "quiet", `↓ ${name}`);
  button.type = "button";
  button.title = "Save it";
  button.onclick = async () => {
    try {
      const link = make("a");
      link.href = URL.createObjectURL(await bytes(line.file_id));
      link.download = name;
      link.click();
    } catch (error) { button.textContent = `${name}: ${error.message}`; }
  };
  box.append(button);
  return box;
}

const hue = (id) => `c${id < 0 ? 5 : id && 1 + id % 4}`; // the bot has c0, groups c5
const clock = (seconds) => new Date(seconds * 1000).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });

function avatar(name, id) {
  const node = make("span", `initial ${hue(id)}`);
  node.dataset.letter = [...name.trim()][0].toUpperCase(); // drawn by the style: it is no text of a chat's name
  node.setAttribute("aria-hidden", "true");
  return node;
}

function bubble(line, isGroup, writer) {
  const mine = isMine(line, writer), name = nameOf(line);
  const node = make("div", `line ${mine ? "mine" : line.by_bot ? "bot" : "other"}`);
  if (isGroup && !mine) node.append(make("span", `who ${line.by_bot ? "" : hue(line.user_id)}`, name));
  else node.append(make("span", "away", `${mine ? "You wrote" : `${name} wrote`}: `));
  if (line.media) node.append(fileOf(line));
  const words = make("div", "words");
  rich(words, line.text, [...line.entities].sort((a, b) => a.offset - b.offset || b.length - a.length), 0, line.text.length);
  if (line.text) node.append(words);
  node.append(make("span", "time", `${line.edits ? "edited " : ""}${clock(line.at_s)}`));
  return node;
}

function keys(line, press) {
  const box = make("div", "keys");
  let number = 0;
  for (const row of line.buttons) {
    const div = make("div");
    for (const text of row) {
      const data = line.presses[number++], link = /^https?:\/\//.test(data), button = make(link ? "a" : "button", link ? "button" : "", text);
      if (link) { button.href = data; button.rel = "noreferrer noopener"; button.target = "_blank"; }
      else button.onclick = () => press(line.message_id, data);
      div.append(button);
    }
    box.append(div);
  }
  return box;
}
