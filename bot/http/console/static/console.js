"use strict";
// Says when the bot no longer answers, and closes what a button opened.

const gone = document.getElementById("gone");
let heardAt = new Date();

function silent() {
  gone.querySelector("span").textContent = heardAt.toLocaleTimeString();
  gone.hidden = false;
}

document.addEventListener("htmx:sendError", silent);
document.addEventListener("htmx:afterRequest", (event) => {
  if (!event.detail.successful) return;
  heardAt = new Date();
  gone.hidden = true;
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
