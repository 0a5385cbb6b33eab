"use strict";
// Says when the bot no longer answers, leaves what has not changed as it is, and closes what a button opened.

const heads = () => document.getElementById("headline");
const before = new WeakMap();
let heardAt = new Date();

function silent() {
  const head = heads();
  if (!head || head.dataset.gone) return;
  head.dataset.gone = "yes";
  const line = document.createElement("p"), strong = document.createElement("strong");
  line.className = "state bad";
  line.setAttribute("role", "alert");
  strong.textContent = "The bot isn't answering.";
  line.append(strong, ` This page is from ${heardAt.toLocaleTimeString([], { timeZoneName: "short" })}. Start it again; what was written meanwhile is answered then.`);
  head.replaceChildren(line);
}

document.addEventListener("htmx:sendError", silent);
document.addEventListener("htmx:beforeSwap", (event) => {
  const { target, xhr, serverResponse } = event.detail;
  if (xhr.status >= 502) {
    event.detail.shouldSwap = false;
    silent();
    return;
  }
  heardAt = new Date();
  const head = heads();
  const back = head && head.dataset.gone;
  if (back) delete head.dataset.gone;
  if (target.matches("#headline, #list, #needs")) {
    if (before.get(target) === serverResponse && !(back && target === head)) event.detail.shouldSwap = false;
    before.set(target, serverResponse);
  }
});

document.addEventListener("htmx:beforeRequest", (event) => {
  const { elt, target } = event.detail;
  if (!target.matches(".shown")) return;
  const path = elt.getAttribute("href");
  if (target.dataset.from === path && target.hasChildNodes()) {
    event.preventDefault();
    target.replaceChildren();
    return;
  }
  target.dataset.from = path;
});
