// The WebSocket: messages out and in, and coming back after a break.

const listeners = new Map();
let socket = null;
let delay = 250;
const waiting = [];

export function on(type, listener) {
  listeners.set(type, listener);
}

function tell(type, message) {
  listeners.get(type)?.(message);
}

export function connect() {
  const scheme = location.protocol === "https:" ? "wss" : "ws";
  socket = new WebSocket(`${scheme}://${location.host}/ws`);
  socket.addEventListener("open", () => {
    delay = 250;
    tell("open");
    for (const text of waiting.splice(0)) socket.send(text);
  });
  socket.addEventListener("message", (event) => {
    const message = JSON.parse(event.data);
    tell(message.type, message);
  });
  socket.addEventListener("close", () => {
    tell("closed");
    setTimeout(connect, delay);
    delay = Math.min(2 * delay, 4000);
  });
}

export function send(message) {
  const text = JSON.stringify(message);
  if (socket?.readyState === WebSocket.OPEN) socket.send(text);
  // What was meant for a connection that is gone is not played later, when the table has moved on.
  else if (message.number === undefined) waiting.push(text);
}

// Keys of seats, so that a reload comes back to them.
export function keyOf(table) {
  return localStorage.getItem(`key ${table}`) ?? "";
}

export function keepKey(table, key) {
  if (key) localStorage.setItem(`key ${table}`, key);
}
