/** Browsers hide ping frames, so the page sends its own and closes a silent connection. */
const PING_MS = 30_000;
const SILENCE_TIMEOUT_MS = 75_000;

/** Close code of a connection that timed out. */
const SILENT_CLOSE_CODE = 1006;

/** An event has an `id`; the first message, `connected`, names the newest one. */
export interface SocketMessage {
  id?: number;
  type: string;
  timestamp: string;
  data: { lastEventId?: number };
}

interface OpenSocketOptions {
  ticket: string;
  since: number | null;
  onMessage: (message: SocketMessage) => void;
  onClosed: (code: number) => void;
}

/** One WebSocket connection. @param options `since`: last known event id; `onClosed` is called once, and not after `close` */
export function openSocket({ ticket, since, onMessage, onClosed }: OpenSocketOptions) {
  const socket = new WebSocket(buildSocketUrl(ticket, since));
  let heardAt = Date.now();
  let open = true;
  const watchdog = setInterval(() => {
    if (Date.now() - heardAt > SILENCE_TIMEOUT_MS) end(SILENT_CLOSE_CODE);
    else if (socket.readyState === WebSocket.OPEN) socket.send('{"type":"ping"}');
  }, PING_MS);

  function close() {
    open = false;
    clearInterval(watchdog);
    socket.close();
  }

  function end(code: number) {
    if (!open) return;
    close();
    onClosed(code);
  }

  socket.onmessage = ({ data }) => {
    heardAt = Date.now();
    if (open) onMessage(JSON.parse(data));
  };
  socket.onclose = ({ code }) => end(code);
  return { close };
}

/** Relative to the page, as it may be served below a path. The ticket works once within 30 seconds, so no token appears in a URL. */
function buildSocketUrl(ticket: string, since: number | null) {
  const url = new URL('ws/signal', document.baseURI);
  url.protocol = url.protocol.replace('http', 'ws');
  url.searchParams.set('ticket', ticket);
  // The default is 7d only; the page lists all horizons.
  url.searchParams.set('horizons', 'all');
  if (since !== null) url.searchParams.set('since', String(since));
  return url;
}
