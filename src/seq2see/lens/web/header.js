// What is asked of the model: text, features, a forced target, the beam; and links, theme, help.

import { button, choices, copy, element } from "seq2see/element";
import { targetSuspension } from "seq2see/suspended";
import { theme } from "seq2see/theme";

const TYPED = 500; // milliseconds after the last key until the model is asked

export class Header {
  constructor(explorer, onHelp) {
    this.explorer = explorer;
    this.timer = 0;
    /** What each field was last told, or told; what differs from it is still being written. */
    this.agreed = new Map();
    this.model = element("select", {
      id: "model",
      "aria-label": "model",
      change: (event) => explorer.change({ model: event.target.value }, event),
    });
    this.about = element("span", { id: "about", class: "hint" });
    this.text = this.typed("text", {
      placeholder: "type something to read",
      "aria-label": "source text",
      class: "text",
      dir: "auto",
      spellcheck: "false",
    });
    this.names = element("datalist", { id: "image-names" });
    this.file = element("input", {
      id: "upload",
      type: "file",
      accept: "image/*",
      hidden: true,
      "aria-label": "an image of your own",
      change: (event) => this.upload(event.target.files[0]),
    });
    this.chooser = button("choose-file", "Upload …", "an image of your own, which stays in memory", () =>
      this.file.click(),
    );
    this.features = this.typed("features", { placeholder: "such as V;PST", dir: "auto" });
    this.into = element("select", {
      id: "into",
      change: (event) => explorer.change({ into: event.target.value }, event),
    });
    this.target = this.typed("target", { placeholder: "the model's own", dir: "auto" });
    this.beam = element("input", {
      id: "beam-size",
      type: "number",
      min: 1,
      inputmode: "numeric",
      change: (event) => this.setBeam(event),
    });
    this.words = element("input", {
      id: "words",
      type: "checkbox",
      change: (event) => explorer.change({ words: event.target.checked }, event),
    });
    this.link = element("button", {
      type: "button",
      id: "copy-link",
      text: "Copy link",
      "data-text": "Copy link",
      click: () => copy(explorer.trail.link, this.link),
    });
    this.theme = element("button", {
      type: "button",
      id: "theme",
      click: () => explorer.change({ theme: theme() === "dark" ? "light" : "dark" }),
    });
    this.help = element("button", {
      type: "button",
      id: "help",
      "aria-label": "keys",
      title: "keys (?)",
      text: "?",
      click: onHelp,
    });
    this.saved = element("p", {
      id: "saved-note",
      class: "hint",
      hidden: true,
      text: "A saved view; `seq2see explore RUN` opens a live one.",
    });
    this.element = element("header", { class: "top" }, this.title(), this.form());
    explorer.watch(() => this.update());
  }

  title() {
    return element(
      "div",
      { class: "title" },
      element("h1", {}, "seq", element("b", { text: "2" }), "see"),
      this.model,
      this.about,
      this.saved,
      element("span", { class: "spacer" }),
      this.link,
      this.theme,
      this.help,
    );
  }

  form() {
    this.more = element(
      "div",
      { class: "more" },
      (this.featuresField = element("label", { class: "field" }, element("span", { text: "features" }), this.features)),
      (this.intoField = element(
        "label",
        { class: "field", title: "which target is written" },
        element("span", { text: "into" }),
        this.into,
      )),
      (this.targetField = element(
        "label",
        { class: "field", title: "say this text instead of the model's own output" },
        element("span", { text: "say instead" }),
        this.target,
      )),
      (this.beamField = element(
        "label",
        { class: "field", title: "how many hypotheses are kept" },
        element("span", { text: "beam" }),
        this.beam,
      )),
      (this.wordsField = element("label", { class: "check", title: "merge sub-words to words" }, this.words, "words")),
    );
    this.asking = element(
      "form",
      { class: "ask", id: "ask", submit: (event) => this.submit(event) },
      this.text,
      this.names,
      this.file,
      this.chooser,
      element("button", { type: "submit", id: "run", class: "main", text: "Run" }),
      this.more,
    );
    return this.asking;
  }

  typed(id, attributes) {
    const field = element("input", {
      id,
      type: "text",
      autocomplete: "off",
      autocapitalize: "off",
      ...attributes,
      input: (event) => {
        clearTimeout(this.timer);
        // Half a character of an input method is not yet text, nor half a name an image.
        const { images, names } = this.explorer.model;
        const half = images && id === "text" && !names.includes(event.target.value);
        if (!event.isComposing && !half) this.timer = setTimeout(() => this.run(), TYPED);
      },
      // Whoever leaves the field means what stands there.
      change: () => {
        if (id === "text" && this.explorer.model.images && this.text.value !== this.asked.text) this.run();
      },
    });
    return field;
  }

  async upload(file) {
    const { explorer } = this;
    if (!file) return;
    try {
      explorer.notice.clear();
      const text = await explorer.store.upload(file, explorer.limits.upload);
      explorer.change({ text });
    } catch (error) {
      explorer.notice.show(error.message);
    } finally {
      this.file.value = "";
    }
  }

  submit(event) {
    event.preventDefault();
    this.run(event);
    if (this.explorer.phase === "refused") this.explorer.load();
  }

  run(event) {
    clearTimeout(this.timer);
    for (const field of [this.text, this.features, this.target]) this.agreed.set(field, field.value);
    const changes = { text: this.text.value, features: this.features.value };
    // A target that is suspended is not in its field: it stays, unless another is written.
    if (this.target.value === this.asked.target) this.explorer.change(changes, event);
    else {
      const target = this.target.value.trim() === "" ? null : this.target.value;
      this.explorer.change({ ...changes, target, targetFor: null }, event);
    }
  }

  /** What the fields show of what is asked: a target that is suspended is told elsewhere. */
  get asked() {
    const { asked, model } = this.explorer;
    const target = targetSuspension(asked, model) === null ? asked.target : null;
    return { text: asked.text ?? "", features: asked.features, target: target ?? "", beam: String(asked.beam) };
  }

  setBeam(event) {
    const most = this.explorer.limits.beam;
    const beam = Math.max(1, Math.min(most, Math.round(Number(event.target.value)) || 1));
    event.target.value = String(beam);
    this.explorer.change({ beam }, event);
  }

  /** @param {string[]} targets @param {string} into */
  tellTargets(targets, into) {
    this.intoField.hidden = targets.length < 2;
    choices(
      this.into,
      targets.map((name) => [name, name]),
      targets.includes(into) ? into : targets[0],
    );
  }

  tellImages({ images, names }, saved) {
    this.chooser.hidden = !images || saved;
    if (!images || this.names.children.length === names.length) return;
    this.text.setAttribute("list", this.names.id);
    this.text.placeholder = "the name of an image";
    this.text.setAttribute("aria-label", "image");
    this.names.replaceChildren(...names.map((value) => element("option", { value })));
  }

  update() {
    const { models, model, asked, store, limits } = this.explorer;
    choices(
      this.model,
      models.map((one) => [one.name, `${one.name}: ${one.run}`]),
      model.name,
    );
    this.model.hidden = models.length < 2;
    this.about.textContent = [models.length < 2 && model.run, model.about].filter(Boolean).join(" · ");
    for (const [field, value] of /** @type {[HTMLInputElement, string][]} */ ([
      [this.text, this.asked.text],
      [this.features, this.asked.features],
      [this.target, this.asked.target],
      [this.beam, this.asked.beam],
    ])) {
      if (this.agreed.get(field) !== value) field.value = value;
      this.agreed.set(field, value);
    }
    this.tellImages(model, store.saved);
    this.featuresField.hidden = !model.features;
    this.tellTargets(model.targets, asked.into);
    this.targetField.hidden = !model.writes;
    this.wordsField.hidden = model.images && !model.writes;
    this.beamField.hidden = !model.writes;
    this.beam.max = limits.beam;
    this.words.checked = asked.words;
    this.theme.textContent = theme() === "dark" ? "Light" : "Dark";
    this.theme.setAttribute("aria-label", `switch to ${theme() === "dark" ? "light" : "dark"} colours`);
    this.saved.hidden = !store.saved;
    for (const control of this.asking.elements) control.disabled = store.saved;
    this.model.disabled = store.saved;
    this.asking.querySelector("#run").hidden = store.saved;
    this.more.hidden = store.saved;
  }
}
