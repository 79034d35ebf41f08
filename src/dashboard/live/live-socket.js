/** Ping frames of the server cannot be seen in a browser: the page asks itself, and takes silence for the end. */
const PING_MS = 30_000;
const SILENCE_TIMEOUT_MS = 75_000;

/** What a connection ends with that was only silent. */
export const SILENT_CLOSE_CODE = 1006;

/**
 * One connection to the events of the service.
 * @param {{ ticket: string, since: number | null, onMessage: (message: any) => void, onClosed: (code: number) => void }} options `since`: the
 * newest event that is known, null where none is wanted from before; `onClosed` is called once, and not after `close`
 */
export function openSocket({ ticket, since, onMessage, onClosed }) {
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

  /** @param {number} code */
  function end(code) {
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

/**
 * Beside the page, so that it is reached however the page was. The ticket works once, for 30 seconds; a token would stay good.
 * @param {string} ticket
 * @param {number | null} since
 */
function buildSocketUrl(ticket, since) {
  const url = new URL('ws/signal', document.baseURI);
  url.protocol = url.protocol.replace('http', 'ws');
  url.searchParams.set('ticket', ticket);
  // The page lists the calls of a day with all their horizons; the default is 7 days alone.
  url.searchParams.set('horizons', 'all');
  if (since !== null) url.searchParams.set('since', String(since));
  return url;
}
