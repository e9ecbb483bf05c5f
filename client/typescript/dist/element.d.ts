import { type Wording } from "./wording.js";
/**
 * AlfredChat is a conversation. Attributes: token, session (the newest message begins one where there is none), url (where the API is;
 * the script's own origin if left out), name (of who answers), placeholder.
 *
 * Events: alfred-session {id} when a conversation has begun, alfred-turn {turn} when one has ended, alfred-token when the server
 * refuses the token: the page sets another one, and what was refused is asked again.
 */
export declare class AlfredChat extends HTMLElement {
    #private;
    static readonly observedAttributes: string[];
    constructor();
    /** getToken gives a token in place of the attribute; expired says that the last one was refused. */
    set getToken(give: ((expired: boolean) => string | Promise<string>) | null);
    get getToken(): ((expired: boolean) => string | Promise<string>) | null;
    /** words is what the element says itself; set some to say them otherwise, before it stands in the page. */
    set words(some: Partial<Wording>);
    get words(): Wording;
    connectedCallback(): void;
    disconnectedCallback(): void;
    attributeChangedCallback(name: string, before: string | null, now: string | null): void;
}
