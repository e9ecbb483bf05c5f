// How <alfred-chat> looks. A page changes it by the variables, by color-scheme, and by ::part().
export const style = `
:host {
  --back: var(--alfred-background, light-dark(#fff, #141716));
  --sunken: var(--alfred-sunken, light-dark(#f3f1ec, #1f2422));
  --text: var(--alfred-text, light-dark(#1b1e1c, #e7ebe8));
  --soft: var(--alfred-soft, light-dark(#5a625e, #9ca7a2));
  --line: var(--alfred-line, light-dark(#d5d1c7, #38403d));
  --accent: var(--alfred-accent, light-dark(#1f5f4a, #62c3a0));
  --accent-text: var(--alfred-accent-text, light-dark(#fff, #06130d));
  --mine: var(--alfred-message, light-dark(#e4efe9, #1c3329));
  --bad: var(--alfred-bad, light-dark(#a3261b, #ff9388));
  --radius: var(--alfred-radius, .75rem);
  display: flex; flex-direction: column; position: relative; min-height: 18rem; height: 32rem; overflow: hidden;
  background: var(--back); color: var(--text); border: 1px solid var(--line); border-radius: var(--radius);
  font: var(--alfred-font, 1rem/1.55 system-ui, sans-serif); text-align: start;
}
:host([hidden]), [hidden] { display: none !important; }
*, ::before, ::after { box-sizing: border-box; }
p, ul, ol, dl, dd, h3, blockquote { margin: 0; padding: 0; }
ol, ul { list-style: none; }
button, textarea { font: inherit; color: inherit; }
button { background: none; border: 1px solid var(--line); border-radius: var(--radius); padding: .3rem .8rem; cursor: pointer; min-height: 1.9rem; overflow-wrap: anywhere; }
button:hover { background: var(--sunken); }
button.primary { background: var(--accent); border-color: var(--accent); color: var(--accent-text); }
button.quiet { border-color: transparent; color: var(--soft); font-size: .875rem; padding: .1rem .4rem; }
button:disabled { opacity: .5; cursor: default; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
a { color: var(--accent); }
.icon { width: 1.2em; height: 1.2em; fill: none; stroke: currentColor; stroke-width: 1.8; stroke-linecap: round; stroke-linejoin: round; vertical-align: -.2em; flex: none; }
.icon-button { display: inline-grid; place-items: center; width: 2.25rem; height: 2.25rem; padding: 0; border-radius: 50%; flex: none; }
.icon-button.primary:hover { opacity: .9; background: var(--accent); }
.hidden { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.soft { color: var(--soft); font-size: .875rem; }
.trouble { color: var(--bad); font-size: .9rem; }
.buttons { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; }

.list { flex: 1; min-height: 0; display: flex; flex-direction: column; gap: 1rem; overflow-y: auto; padding: 1rem; outline-offset: -3px; overflow-wrap: break-word; }
.list > * { flex: none; }
.list > :empty { display: none; }
.welcome { color: var(--soft); text-align: center; padding-top: 2rem; }
.turn > * + *, .turn > .after { margin-top: .6rem; }
.turn + .turn { margin-top: 1.5rem; }
.said { width: fit-content; max-width: 85%; margin-inline-start: auto; padding: .5rem .9rem; background: var(--mine); border-radius: var(--radius); white-space: pre-wrap; overflow-wrap: anywhere; unicode-bidi: plaintext; }
.progress { display: flex; align-items: center; gap: .6rem; color: var(--soft); font-size: .9rem; }
.spinner { width: .9rem; height: .9rem; flex: none; border: 2px solid var(--line); border-top-color: var(--accent); border-radius: 50%; animation: turn 1s linear infinite; }
@keyframes turn { to { transform: rotate(1turn); } }
.plan { display: grid; gap: .2rem; font-size: .9rem; color: var(--soft); padding-inline-start: 1.4rem; list-style: decimal; }
.plan .done { color: var(--text); }
.reply > * + * { margin-top: .6rem; }
.reply p, .reply li { unicode-bidi: plaintext; text-align: start; white-space: pre-line; }
.reply ul { list-style: disc; padding-inline-start: 1.4rem; }
.reply ol { list-style: decimal; padding-inline-start: 1.4rem; }
.reply h3 { font-size: 1rem; }
.reply code, .reply pre { background: var(--sunken); border-radius: .3em; font-size: .875em; }
.reply pre { padding: .6rem .8rem; white-space: pre-wrap; overflow-wrap: anywhere; }
.reply blockquote { padding-inline-start: .8rem; border-inline-start: 3px solid var(--line); color: var(--soft); }
.reply .table { overflow-x: auto; }
.reply table { border-collapse: collapse; }
.reply th, .reply td { padding: .25rem .7rem .25rem 0; border-bottom: 1px solid var(--line); text-align: start; }
.options { display: flex; flex-wrap: wrap; gap: .5rem; }
.turn[aria-busy] .options { display: none; }
.options button { border-color: var(--accent); color: var(--accent); border-radius: 2rem; text-align: start; }
.cards + * { margin-top: .4rem; }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(14rem, 100%), 1fr)); gap: .5rem; align-items: start; }
.card { border: 1px solid var(--line); border-radius: var(--radius); font-size: .9rem; }
.card.draft { border-style: dashed; }
.card summary { display: block; position: relative; list-style: none; padding: .5rem 2rem .5rem .8rem; cursor: pointer; border-radius: var(--radius); overflow-wrap: anywhere; }
.card summary .kind { display: block; color: var(--soft); font-size: .8rem; }
.card summary::after { content: ""; position: absolute; inset-inline-end: .9rem; top: 1rem; width: .45rem; height: .45rem; border: solid var(--soft); border-width: 0 1.5px 1.5px 0; rotate: 45deg; }
[open] > summary::after { rotate: 225deg; }
.card summary b { font-weight: 600; }
.card dl { padding: 0 .8rem .6rem; display: grid; gap: .3rem; }
.card dt { color: var(--soft); font-size: .8rem; }
.card dd { white-space: pre-line; overflow-wrap: anywhere; unicode-bidi: plaintext; }
.card > .buttons { padding: 0 .8rem .6rem; }

.end { position: relative; height: 0; }
.newest { position: absolute; bottom: .6rem; left: calc(50% - 1.1rem); background: var(--back); z-index: 1; }
.foot { flex: none; padding: .6rem; border-top: 1px solid var(--line); }
.box { display: flex; align-items: flex-end; gap: .4rem; }
.box textarea { flex: 1; min-width: 0; resize: none; field-sizing: content; max-height: 10rem; padding: .45rem .7rem; background: var(--back); border: 1px solid var(--line); border-radius: var(--radius); }
.box textarea::placeholder { color: var(--soft); opacity: 1; }
@media (prefers-reduced-motion: reduce) { .spinner { animation-duration: 4s; } }
`;
