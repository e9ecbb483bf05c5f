// A turn as <alfred-chat> shows it.
import { drawCards } from "./cards.js";
import { button, h } from "./dom.js";
import { fragment } from "./markdown.js";
import { dropOptions, dropUndo } from "./options.js";
const mention = /@\[([^\]\n]*)\]\([^()\s]*\)/g;
export class TurnView {
    words;
    turn;
    on;
    item;
    status;
    #activity = h("span", {});
    #progress;
    #plan;
    #reply = h("div", { class: "reply", part: "reply", dir: "auto" });
    #options;
    #after = h("div", { class: "after" });
    #text = "";
    #labels = [];
    #undo;
    #before = "";
    constructor(words, turn, on, name) {
        this.words = words;
        this.turn = turn;
        this.on = on;
        this.status = turn.status;
        this.#progress = h("div", { class: "progress", hidden: true }, h("span", { class: "spinner", "aria-hidden": "true" }), this.#activity);
        this.#plan = h("ol", { class: "plan", "aria-label": words.plan, hidden: true });
        this.#options = h("div", { class: "options", role: "group", "aria-label": words.answers, hidden: true });
        this.item = h("li", { class: "turn", part: "turn", "data-number": turn.number }, h("span", { class: "hidden" }, words.youSaid), h("p", { class: "said", part: "message", dir: "auto" }, turn.message.replace(mention, "@$1")), h("span", { class: "hidden" }, `${name} ${words.says}`), this.#plan, this.#progress, this.#reply, this.#options, this.#after);
        if (this.isOpen)
            this.#working(turn.status === "queued" ? words.waiting : words.starting);
    }
    get isOpen() { return this.status === "queued" || this.status === "running"; }
    #working(what) {
        this.#progress.hidden = false;
        this.#activity.textContent = what;
        this.item.setAttribute("aria-busy", "true");
    }
    connection(there) {
        if (this.#progress.hidden || there === (this.#activity.textContent !== this.words.cut))
            return;
        if (!there)
            this.#before = this.#activity.textContent ?? "";
        this.#activity.textContent = there ? this.#before : this.words.cut;
    }
    hear(event) {
        if (!this.isOpen)
            return;
        switch (event.type) {
            case "turn.started":
                this.status = "running";
                return this.#working(this.words.starting);
            case "node.started": return this.#node(event.data.node);
            case "node.waiting": return this.#working(this.words.slow);
            case "plan": return this.#planned(event.data.steps);
            case "step.started": return this.#working(`${event.data.description}…`);
            case "step.finished": return this.#stepped(event.data.step, event.data.summary);
            case "reply.delta":
                this.#text += event.data.text;
                return this.#write();
            case "reply.reset":
                this.#text = "";
                return this.#write();
            case "reply":
                this.#text = event.data.text;
                return this.#write();
            case "question": return this.ask(event.data);
        }
    }
    #node(node) {
        const what = this.words[node];
        if (!what)
            return;
        this.#working(what);
        this.on.announce(what);
    }
    #planned(steps) {
        this.#plan.hidden = false;
        for (const left of this.#plan.querySelectorAll("li:not(.done)"))
            left.remove();
        this.#plan.append(...steps.map((s) => h("li", { "data-step": s.step }, s.description)));
    }
    #stepped(step, summary) {
        const line = this.#plan.querySelector(`[data-step="${Number(step)}"]`);
        line?.classList.add("done");
        if (line && summary)
            line.textContent = summary;
    }
    #write() {
        this.#reply.replaceChildren(fragment(this.#text));
        if (this.#labels.length)
            dropOptions(this.#reply, this.#labels);
        dropUndo(this.#reply, this.#undo);
    }
    ask({ id, options }) {
        this.#options.hidden = options.length === 0;
        this.#options.replaceChildren(...options.map(({ id: option, label }) => button(label, () => {
            this.closeQuestion();
            this.on.say(label, option ? { question_id: id, option_id: option } : undefined);
        }, { part: "option" })));
        this.#labels = options.map((o) => o.label);
        this.#write();
    }
    // closeQuestion takes the buttons away; the reply again lists what they offered.
    closeQuestion() {
        this.#options.hidden = true;
        this.#options.replaceChildren();
        if (!this.#labels.length)
            return;
        this.#labels = [];
        this.#write();
    }
    // end shows how it ended.
    end(turn, aloud) {
        this.status = turn.status;
        this.#progress.hidden = true;
        this.#plan.hidden = true;
        this.item.removeAttribute("aria-busy");
        this.#text = turn.said ?? turn.reply ?? (turn.status === "cancelled" ? this.#text : "");
        this.#write();
        if (turn.status === "cancelled" && this.#text)
            this.#reply.append(h("p", { class: "soft" }, this.words.stopped));
        else if (turn.error) {
            this.#reply.append(h("p", { class: "trouble" }, turn.error.message));
            const again = button(this.words.again, () => { again.remove(); this.on.say(this.turn.message); });
            this.#reply.append(again);
        }
        if (aloud)
            this.on.announce(this.#reply.textContent ?? "");
    }
    // told shows what was read and written, and how to take it back.
    told({ undo, undoes, unwritten }, cards) {
        const words = this.words;
        this.#undo = undo;
        dropUndo(this.#reply, undo);
        const back = button(undoes ? words.redo : words.undo, () => { back.remove(); this.on.undo(this.turn.id); }, { class: "quiet" });
        const why = undo?.status === "done" ? words.undone : unwritten ? words.unwritten : undo?.reason;
        this.#after.replaceChildren(...drawCards(words, cards), ...undo?.status === "possible" ? [back] : why ? [h("p", { class: "soft" }, why)] : []);
    }
}
