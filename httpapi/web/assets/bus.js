// How the parts of the page hear of each other without knowing each other.
//
//   session        {id, title, archived, ...} or null: another conversation is shown
//   loaded         nothing: its turns are there
//   registry       {current_turn, items}: what the conversation knows now
//   stale          what is shown may have changed: a turn ended, a row or draft was changed
//   turn           {id, number, status}: a turn was added or has changed its status
//   inspect        {id, number}: somebody asks how this turn came about
//   say            text: the user speaks by a button

const bus = new EventTarget();

export const emit = (name, detail) => { bus.dispatchEvent(new CustomEvent(name, { detail })); };

export const on = (name, heard) => { bus.addEventListener(name, (event) => heard(event.detail)); };
