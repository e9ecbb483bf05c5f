// <alfred-chat token="..." session="..." url="...">: a conversation in anybody's page.
import { Alfred, AlfredError, newKey } from "./index.js";
import { cardsOf, draftCard, drawCard, Types } from "./cards.js";
import { button, h, iconButton } from "./dom.js";
import { isLast, isLost } from "./events.js";
import { stayAtEnd } from "./scroll.js";
import { style } from "./style.js";
import { TurnView } from "./turn.js";
import { wording } from "./wording.js";
const home = document.currentScript instanceof HTMLScriptElement ? new URL(document.currentScript.src).origin : ""; // where the script came from, for one that is no module
const after = 2147483647; // all of a turn's events
const retryAfter = 2000; // ms
const rich = 5; // turns of the past that are shown with their rows
const sheet = new CSSStyleSheet();
sheet.replaceSync(style);
/**
 * AlfredChat is a conversation. Attributes: token, session (the newest message begins one where there is none), url (where the API is;
 * the script's own origin if left out), name (of who answers), placeholder.
 *
 * Events: alfred-session {id} when a conversation has begun, alfred-turn {turn} when one has ended, alfred-token when the server
 * refuses the token: the page sets another one, and what was refused is asked again.
 */
export class AlfredChat extends HTMLElement {
    static observedAttributes = ["token", "session", "url"];
    #getToken = null;
    #given = ""; // the attribute's token that was used last
    #words = { ...wording };
    #alfred = new Alfred();
    #types = new Types(this.#alfred);
    #views = new Map();
    #over = new AbortController();
    #shown = null; // the conversation that is followed
    #waiting = [];
    #renewed = null;
    #toEnd = () => { };
    #list = h("ol", { part: "turns" });
    #unsent = h("ul", {});
    #drafts = h("div", { class: "cards", part: "drafts" });
    #trouble = h("p", { class: "trouble", role: "alert", hidden: true });
    #status = h("p", { class: "hidden", role: "status", "aria-live": "polite" });
    #welcome = h("p", { class: "welcome" });
    #box = document.createElement("textarea");
    #stop = document.createElement("button");
    #send = document.createElement("button");
    constructor() {
        super();
        for (const name of ["getToken", "words"])
            this.#adopt(name);
    }
    // #adopt takes over what a page set before this script was there.
    #adopt(name) {
        const property = Object.getOwnPropertyDescriptor(this, name);
        if (!property)
            return;
        delete this[name];
        Object.assign(this, { [name]: property.value });
    }
    /** getToken gives a token in place of the attribute; expired says that the last one was refused. */
    set getToken(give) { this.#getToken = give; }
    get getToken() { return this.#getToken; }
    /** words is what the element says itself; set some to say them otherwise, before it stands in the page. */
    set words(some) { this.#words = { ...wording, ...some }; }
    get words() { return this.#words; }
    connectedCallback() {
        if (!this.shadowRoot)
            this.#build();
        this.#open();
    }
    disconnectedCallback() { this.#close(); }
    attributeChangedCallback(name, before, now) {
        if (before === now || !this.isConnected || !this.shadowRoot)
            return;
        if (name === "token") {
            this.#renewed?.(now ?? "");
            if (!this.#renewed && !this.#shown)
                this.#open();
        }
        else if (name !== "session" || now !== this.#shown)
            this.#open();
    }
    get #name() { return this.getAttribute("name") || "Alfred"; }
    #build() {
        const words = this.#words;
        const root = this.attachShadow({ mode: "open", delegatesFocus: true });
        root.adoptedStyleSheets = [sheet];
        this.#welcome = h("p", { class: "welcome" }, words.welcome);
        Object.assign(this.#box, { rows: 1, dir: "auto", placeholder: this.getAttribute("placeholder") || words.placeholder });
        this.#box.setAttribute("aria-label", words.message);
        this.#box.setAttribute("part", "input");
        this.#stop = iconButton("stop", words.stop, () => this.#guard(() => this.#cancel()), { hidden: true });
        this.#send = iconButton("send", words.send, () => { }, { type: "submit", class: "icon-button primary" });
        const form = h("form", { class: "foot", part: "composer", onsubmit: (event) => { event.preventDefault(); this.#submit(); } }, h("div", { class: "box" }, this.#box, this.#stop, this.#send));
        const list = h("div", { class: "list", part: "list", tabindex: "0", role: "region", "aria-label": words.conversation }, this.#welcome, this.#list, this.#drafts, this.#unsent, this.#trouble);
        const newest = iconButton("down", words.newest, () => { }, { class: "icon-button newest", hidden: true });
        root.append(list, h("div", { class: "end" }, newest), form, this.#status);
        this.#toEnd = stayAtEnd(list, [this.#list, this.#drafts, this.#unsent, this.#trouble], newest);
        this.#box.addEventListener("input", () => this.#typed());
        this.#box.addEventListener("keydown", (event) => this.#key(event));
        this.#typed();
    }
    #key(event) {
        if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
            event.preventDefault();
            this.#submit();
        }
        else if (event.key === "Escape" && !this.#stop.hidden) {
            event.preventDefault();
            this.#guard(() => this.#cancel());
        }
        else if (event.key === "ArrowUp" && this.#box.value === "") {
            const last = [...this.#views.values()].at(-1)?.turn.message;
            if (!last)
                return;
            event.preventDefault();
            this.#box.value = last;
            this.#typed();
        }
    }
    #typed() { this.#send.disabled = this.#box.value.trim() === ""; }
    #submit() {
        const text = this.#box.value.trim();
        if (!text)
            return;
        this.#box.value = "";
        this.#typed();
        this.#say(text);
    }
    // #token asks the page for another one where the server refuses what there is.
    async #token(expired) {
        if (this.#getToken)
            return this.#getToken(expired);
        const now = this.getAttribute("token") ?? "";
        if (!expired || now !== this.#given) {
            this.#given = now;
            return now;
        }
        this.#wrong(this.#words.signIn);
        const renewed = new Promise((resolve) => { this.#renewed = resolve; });
        this.#tell("alfred-token", {});
        this.#given = await renewed;
        this.#renewed = null;
        this.#wrong("");
        return this.#given;
    }
    #tell(name, detail) { this.dispatchEvent(new CustomEvent(name, { detail, bubbles: true, composed: true })); }
    #wrong(text) {
        this.#trouble.hidden = !text;
        this.#trouble.textContent = text;
    }
    async #guard(work) {
        const { signal } = this.#over;
        try {
            await work();
        }
        catch (error) {
            if (signal.aborted)
                return;
            if (!(error instanceof AlfredError) && !isLost(error))
                throw error;
            this.#wrong(error instanceof AlfredError && error.status === 401 ? this.#words.signIn : error.message);
        }
    }
    #close() {
        this.#over.abort();
        this.#over = new AbortController();
        this.#shown = null;
        this.#giveBack(this.#waiting.filter((item, i) => i > 0 || item.lost).map((item) => item.text).join("\n\n")); // they were not for another one
        this.#waiting = [];
        this.#views.clear();
        for (const part of [this.#list, this.#drafts, this.#unsent])
            part.replaceChildren();
        this.#welcome.hidden = true;
        this.#stop.hidden = true;
        this.#wrong("");
    }
    // #open shows the conversation that the attribute names.
    #open() {
        this.#close();
        const url = this.getAttribute("url") || home;
        this.#alfred = new Alfred({ url: url || location.origin, token: (expired) => this.#token(expired) });
        this.#types = new Types(this.#alfred);
        const id = this.getAttribute("session");
        this.#welcome.hidden = Boolean(id);
        if (id)
            this.#guard(() => this.#load(id));
    }
    async #load(id) {
        const { signal } = this.#over;
        this.#shown = id;
        const told = await this.#turns(id, signal);
        if (signal.aborted)
            return;
        for (const turn of told) {
            const view = this.#add(turn);
            if (!view.isOpen)
                view.end(turn, false);
        }
        this.#welcome.hidden = told.length > 0;
        this.#toEnd();
        const now = told.find((t) => t.status === "running");
        const done = told.findLast((t) => t.status !== "running" && t.status !== "queued");
        void this.#guard(() => this.#follow(id, now ? `${now.number}.0` : done ? `${done.number}.${after}` : "", signal));
        void this.#guard(() => this.#flush());
        const newest = told.at(-1);
        await Promise.all(told.filter((t) => !this.#views.get(t.id)?.isOpen).slice(-rich).map((t) => this.#facts(t)));
        if (newest?.status === "succeeded")
            this.#ask(await this.#turn(newest.id));
        await this.#showDrafts(signal);
    }
    async #turns(id, signal) {
        const all = [];
        let cursor = "";
        do {
            const { data } = await this.#alfred.api.GET("/v1/sessions/{id}/turns", { params: { path: { id }, query: { limit: 200, cursor } }, signal });
            all.push(...data?.items ?? []);
            cursor = data?.next_cursor;
        } while (cursor);
        return all;
    }
    #add(turn) {
        const there = this.#views.get(turn.id);
        if (there)
            return there;
        for (const other of this.#views.values())
            other.closeQuestion();
        const view = new TurnView(this.#words, turn, {
            say: (text, answer) => this.#say(text, answer),
            stop: () => this.#guard(() => this.#cancel()),
            undo: (id) => this.#guard(async () => { this.#begun(await this.#alfred.undo(id), ""); }),
            announce: (text) => { this.#status.textContent = text; },
        }, this.#name);
        this.#views.set(turn.id, view);
        const next = [...this.#list.children].find((item) => Number(item.dataset.number) > turn.number);
        this.#list.insertBefore(view.item, next ?? null);
        this.#welcome.hidden = true;
        this.#busy();
        return view;
    }
    #busy() { this.#stop.hidden = ![...this.#views.values()].some((view) => view.isOpen); }
    async #follow(id, from, signal) {
        const onConnection = (there) => { for (const view of this.#views.values())
            view.connection(there); };
        try {
            for await (const event of this.#alfred.followSession(id, { after: from, signal, onConnection })) {
                if (signal.aborted)
                    return;
                await this.#hear(event);
            }
        }
        catch (error) {
            if (!(error instanceof AlfredError) || error.code !== "not_found")
                throw error;
        }
        if (!signal.aborted)
            this.#wrong(this.#words.gone);
    }
    async #hear(event) {
        const id = event.data.turn_id;
        const view = this.#views.get(id) ?? this.#add({ ...await this.#surely(() => this.#turn(id)), status: "running" }); // sent elsewhere
        if (!isLast(event.type)) {
            view.hear(event);
            return;
        }
        const turn = await this.#surely(() => this.#turn(id));
        view.end(turn, true);
        this.#busy();
        this.#ask(turn);
        this.#tell("alfred-turn", { turn });
        await this.#guard(() => this.#surely(() => this.#facts(turn)));
        const undone = turn.undoes ?? "";
        if (this.#views.has(undone))
            await this.#guard(() => this.#surely(async () => this.#facts(await this.#turn(undone))));
        await this.#guard(() => this.#surely(() => this.#showDrafts(this.#over.signal)));
    }
    // #surely asks again until somebody answers: what is asked for after an event would else be missing for good.
    async #surely(work) {
        const { signal } = this.#over;
        for (;;) {
            try {
                return await work();
            }
            catch (error) {
                if (signal.aborted || !(isLost(error) || error instanceof AlfredError && error.status >= 500))
                    throw error;
                await new Promise((resolve) => { setTimeout(resolve, retryAfter); });
            }
        }
    }
    async #turn(id) {
        const { data } = await this.#alfred.api.GET("/v1/turns/{id}", { params: { path: { id } } });
        return data; // what is none was thrown
    }
    // #facts shows what a turn read and wrote. The reply of an undo names its rows itself.
    async #facts(turn) {
        const [types, { data }] = await Promise.all([this.#types.all(),
            this.#alfred.api.GET("/v1/turns/{id}/results", { params: { path: { id: turn.id }, query: { limit: 50 } } })]);
        this.#views.get(turn.id)?.told(turn, cardsOf(types, data?.items ?? [], turn.undoes ? [] : turn.wrote));
    }
    #ask({ id, question }) {
        if (question?.status === "open")
            this.#views.get(id)?.ask(question);
    }
    // #showDrafts shows what is drafted and not saved.
    async #showDrafts(signal) {
        const id = this.#shown;
        if (!id)
            return;
        const { data } = await this.#alfred.api.GET("/v1/sessions/{id}/entities", { params: { path: { id }, query: { limit: 200 } }, signal });
        const drafts = data?.items.filter((e) => e.tier === "generated") ?? [];
        const types = drafts.length ? await this.#types.all() : [];
        const cards = await Promise.all(drafts.map(async ({ ref }) => {
            const path = { id, ref };
            const found = await this.#alfred.api.GET("/v1/sessions/{id}/artifacts/{ref}", { params: { path }, signal });
            const card = found.data && draftCard(types, found.data);
            const asSeen = { "If-Match": found.response.headers.get("ETag") ?? "" };
            const then = (work) => () => this.#guard(async () => { await work(); await this.#showDrafts(signal); });
            return card ? [drawCard(this.#words, card, [
                    button(this.#words.save, then(() => this.#alfred.api.POST("/v1/sessions/{id}/artifacts/{ref}/save", { params: { path, header: asSeen } })), { class: "primary", "aria-label": `${this.#words.save} ${card.label}` }),
                    button(this.#words.discard, then(() => this.#alfred.api.DELETE("/v1/sessions/{id}/artifacts/{ref}", { params: { path, header: asSeen } })), { "aria-label": `${this.#words.discard} ${card.label}` }),
                ])] : [];
        }));
        if (signal.aborted)
            return;
        const open = new Set([...this.#drafts.querySelectorAll("details[open]")].map((card) => card.dataset.ref));
        this.#drafts.replaceChildren(...cards.flat());
        for (const card of this.#drafts.querySelectorAll("details"))
            card.open = open.has(card.dataset.ref);
    }
    // #say sends a text, or keeps it until it can be sent: under its key it arrives once.
    #say(text, answer) {
        this.#wrong("");
        this.#waiting.push({ text, key: newKey(), ...answer && { answer } });
        if (this.#waiting.length === 1)
            void this.#guard(() => this.#flush());
    }
    async #flush() {
        const { signal } = this.#over;
        while (this.#waiting.length && !signal.aborted) {
            const [first] = this.#waiting;
            if (!first)
                return;
            try {
                this.#shown ??= await this.#begin();
                const made = await this.#alfred.say(this.#shown, first.text, { ...first.answer && { answer: first.answer }, key: first.key });
                this.#waiting = this.#waiting.filter((other) => other !== first);
                this.#begun(made, first.text);
            }
            catch (error) {
                if (!isLost(error) && !(error instanceof AlfredError && error.status > 500)) { // a server without its database is away as well
                    this.#waiting = this.#waiting.filter((other) => other !== first);
                    this.#giveBack(first.text);
                    throw error;
                }
                first.lost = true;
                this.#drawUnsent();
                await new Promise((resolve) => { setTimeout(resolve, retryAfter); });
            }
            this.#drawUnsent();
        }
    }
    async #begin() {
        await this.#alfred.here().catch((error) => { if (!(error instanceof AlfredError && error.status === 400))
            throw error; }); // a zone that the server does not know
        const { id } = await this.#alfred.begin();
        this.#shown = id; // before the attribute, which else would open it
        this.setAttribute("session", id);
        this.#tell("alfred-session", { id });
        void this.#guard(() => this.#follow(id, "", this.#over.signal));
        return id;
    }
    #begun(made, message) {
        if (message)
            this.#add({ ...made, message });
        this.#toEnd();
    }
    #giveBack(text) {
        if (!text)
            return;
        this.#box.value = [text, this.#box.value].filter(Boolean).join("\n\n");
        this.#typed();
    }
    #drawUnsent() {
        this.#unsent.replaceChildren(...this.#waiting.map((item) => h("li", {}, h("p", { class: "said" }, item.text), h("p", { class: "soft" }, `${this.#words.unsent} `, button(this.#words.takeBack, () => {
            this.#waiting = this.#waiting.filter((other) => other !== item);
            this.#giveBack(item.text);
            this.#drawUnsent();
        }, { class: "quiet" })))));
    }
    async #cancel() {
        const all = [...this.#views.values()];
        const now = all.find((view) => view.status === "running") ?? all.find((view) => view.isOpen);
        if (now)
            await this.#alfred.cancel(now.turn.id);
    }
}
if (!customElements.get("alfred-chat"))
    customElements.define("alfred-chat", AlfredChat);
