// Fetches the page again by its ETag and morphs <main>. Everything works without it.
(() => {
  "use strict";
  const WAIT_S = 20, POLL = 5e3, SLOW = 3e4, QUIET = 3e5, RETRY = 5e3, GAP = 1e3;
  const held = document.body.dataset.live === "hold";
  const note = document.getElementById("live");
  const main = () => document.querySelector("main");
  let changed = Date.now(), seen = Date.now(), timer = 0, asking = null;

  const ago = (at) => {
    const s = Math.trunc((Date.now() - at) / 1e3), a = Math.abs(s);
    if (a < 60) return s < 0 ? "in a moment" : "just now";
    const text = a < 3600 ? `${Math.trunc(a / 60)} min` : a < 172800 ? `${Math.trunc(a / 3600)} h` : `${Math.trunc(a / 86400)} d`;
    return s < 0 ? `in ${text}` : `${text} ago`;
  };
  const age = () => {
    for (const time of document.querySelectorAll("time:not([class])")) time.textContent = ago(Date.parse(time.dateTime));
  };
  // What a person typed or chose stays, focused or not.
  const isEdited = (node) => node.matches?.("textarea, input:not([type=hidden])") &&
    (node === document.activeElement || node.value !== node.defaultValue || node.checked !== node.defaultChecked);
  const take = (html) => {
    const page = new DOMParser().parseFromString(html, "text/html");
    document.title = page.title;
    Idiomorph.morph(main(), page.querySelector("main"), {
      ignoreActiveValue: true,
      callbacks: {
        beforeNodeMorphed: (node) => !isEdited(node),
        beforeAttributeUpdated: (name, node) => name !== "open" || node.localName !== "details",
      },
    });
  };

  const look = async () => {
    const url = new URL(location.href), began = Date.now();
    url.hash = "";
    if (held) url.searchParams.set("wait", WAIT_S);
    asking = new AbortController();
    let next = RETRY;
    try {
      const answer = await fetch(url, { headers: { "If-None-Match": main().dataset.etag }, signal: asking.signal });
      if (answer.status === 401) return location.reload();
      if (answer.status !== 200 && answer.status !== 304) throw new Error(`status ${answer.status}`);
      if (answer.status === 200) { take(await answer.text()); changed = Date.now(); }
      seen = Date.now();
      note.textContent = "";
      next = held ? Math.max(GAP - (seen - began), 0) : seen - changed > QUIET ? SLOW : POLL;
    } catch (error) {
      if (error.name === "AbortError") return;
      note.textContent = `This page could not be read again (${error.message}); it shows ${new Date(seen).toLocaleTimeString()}.`;
    }
    age();
    timer = setTimeout(look, next);
  };
  const follow = () => { clearTimeout(timer); asking?.abort(); if (!document.hidden) look(); };
  document.addEventListener("visibilitychange", follow);
  if (document.body.dataset.live) follow();
})();
