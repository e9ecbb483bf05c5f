// What the first screen does without: one file, fetched when the first of it is asked for.

export { among, branchesOf, fork, origin, waysAt } from "./branches.js";
export { openDraft } from "./draftform.js";
export { exportSession } from "./exporting.js";
export { showMemory } from "./memory.js";
export { openResults } from "./results.js";
export { openRow } from "./rowform.js";
export { showRows } from "./rows.js";
export { lookAt, showTimeline } from "./timeline.js";
