// What this browser remembers. Without storage (private windows, full disks) the page works and forgets.

export function remember(name, value) {
  try { localStorage.setItem(name, JSON.stringify(value)); } catch { /* it forgets */ }
}

export function recall(name) {
  try { return JSON.parse(localStorage.getItem(name)); } catch { return null; }
}

export function forget(name) {
  try { localStorage.removeItem(name); } catch { /* it has forgotten */ }
}
