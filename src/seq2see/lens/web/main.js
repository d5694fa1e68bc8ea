// Puts the page together.

import { Atlas } from "seq2see/atlas";
import { Bar } from "seq2see/bar";
import { Beam } from "seq2see/beam";
import { Compare } from "seq2see/compare";
import { Edit } from "seq2see/edit";
import { element } from "seq2see/element";
import { Explorer } from "seq2see/explorer";
import { Header } from "seq2see/header";
import { Keys } from "seq2see/keys";
import { Look } from "seq2see/look";
import { MapView } from "seq2see/map";
import { Notice } from "seq2see/notice";
import { Picker } from "seq2see/picker";
import { VIEWS } from "seq2see/state";
import { Status } from "seq2see/status";
import { openStore } from "seq2see/store";
import { active } from "seq2see/suspended";
import { onSystemChange, wear } from "seq2see/theme";
import { Translate } from "seq2see/translate";
import { Undo } from "seq2see/undo";

const TITLES = {
  translate: "Translate",
  read: "Read",
  goOn: "Go on",
  look: "Picture",
  atlas: "Atlas",
  map: "Map",
  beam: "Beam",
  edit: "Edit",
  compare: "Compare",
};

function navigation(explorer) {
  const links = VIEWS.map((name, place) =>
    element(
      "button",
      {
        type: "button",
        role: "tab",
        id: `tab-${name}`,
        "aria-controls": name,
        "data-view": name,
        click: (event) => explorer.change({ view: name }, event),
      },
      element("kbd", { text: place + 1, "aria-hidden": "true" }),
      element("span", { text: TITLES[name] }),
    ),
  );
  const edited = links[4];
  explorer.watch(() => {
    for (const link of links) link.setAttribute("aria-selected", link.dataset.view === explorer.asked.view);
    // A model that does not write searches for nothing; one that only writes goes on with a text.
    const { reads, writes, images } = explorer.model;
    const first = !writes ? TITLES.read : reads ? TITLES.translate : TITLES.goOn;
    links[0].lastChild.textContent = images ? TITLES.look : first;
    links[3].hidden = !explorer.model.writes;
    edited.dataset.count = String(active(explorer.asked, explorer.model).length || "");
  });
  return element("nav", { class: "tabs", role: "tablist", "aria-label": "views" }, ...links);
}

// Only the view in sight is brought up to date; the others catch up when they are shown.
function showing(explorer, views) {
  let shown = null;
  return (changed) => {
    const name = explorer.asked.view;
    if (shown !== name) {
      if (shown) views[shown].hide();
      for (const [other, view] of Object.entries(views)) view.element.hidden = other !== name;
      shown = name;
      changed = new Set([...changed, "view"]);
    }
    document.body.dataset.view = name;
    return views[name].update(changed);
  };
}

async function main() {
  const notice = new Notice("notice");
  const explorer = new Explorer(openStore(), notice);
  wear(explorer.asked.theme);
  onSystemChange(() => {
    wear(explorer.asked.theme);
    explorer.tell(new Set(["theme"]));
  });
  const room = /** @type {HTMLElement} */ (document.getElementById("page"));
  try {
    await explorer.prepare();
  } catch (error) {
    notice.show(error.message);
    room.replaceChildren(notice.element);
    return;
  }
  // Before all others, since whatever they draw is drawn in these colours.
  explorer.watch((changed) => changed.has("theme") && wear(explorer.asked.theme));
  const undo = new Undo(explorer);
  const status = new Status(explorer);
  const views = {
    translate: explorer.model.images ? new Look(explorer, status) : new Translate(explorer, status),
    atlas: new Atlas(explorer, status),
    map: new MapView(explorer, status),
    beam: new Beam(explorer, status),
    edit: new Edit(explorer, status, undo),
    compare: new Compare(explorer, status),
  };
  for (const view of Object.values(views)) {
    view.element.setAttribute("role", "tabpanel");
    view.element.hidden = true;
  }
  const keys = new Keys(explorer, undo, views);
  const header = new Header(explorer, () => keys.help());
  const bar = new Bar(explorer);
  const picker = new Picker(explorer);
  const tabs = navigation(explorer);
  room.replaceChildren(
    header.element,
    notice.element,
    bar.element,
    element("div", { class: "bar-row" }, tabs, picker.element),
    element("main", {}, ...Object.values(views).map((view) => view.element)),
    status.element,
  );
  explorer.watch(showing(explorer, views));
  explorer.tell(new Set(["view", "theme"]));
  await explorer.load();
}

main();
