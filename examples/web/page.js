// The shop's own script: it gives the chat a token, remembers the conversation, and dresses it in the shop's colours.
const chat = document.querySelector("#chat");
chat.style.setProperty("--alfred-accent", "light-dark(#7a2048, #e59bbd)");
chat.style.setProperty("--alfred-accent-text", "light-dark(#fff, #2a0a18)");
chat.style.setProperty("--alfred-message", "light-dark(#f6e6ee, #3a1526)");

chat.getToken = async () => {
  const response = await fetch("/token", { method: "POST" });
  if (!response.ok) location.reload(); // logged out elsewhere
  return (await response.json()).token;
};
const kept = sessionStorage.getItem("conversation");
if (kept) chat.setAttribute("session", kept);
chat.addEventListener("alfred-session", ({ detail }) => sessionStorage.setItem("conversation", detail.id));
