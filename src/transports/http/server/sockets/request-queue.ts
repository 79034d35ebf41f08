import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Requests of one socket that may wait for their turn; browsers, proxies and client libraries send none ahead. */
export const MAX_WAITING_REQUESTS = 16;

type Exchange = [request: IncomingMessage, response: ServerResponse];

interface Queue {
  isBusy: boolean;
  waiting: Exchange[];
}

/**
 * Handles the requests of each socket one at a time, in their order. A response counts as answered once the operating system has taken
 * all of it, so a client that does not read holds one response. A socket with more than `MAX_WAITING_REQUESTS` requests behind the
 * current one is reset, and no handler runs for requests of a socket that is gone.
 */
export function queuePerSocket(handle: RequestListener): RequestListener {
  const queues = new WeakMap<Socket, Queue>();

  function dispatch(queue: Queue, [request, response]: Exchange): void {
    queue.isBusy = true;
    response.once('close', () => next(queue, request.socket));
    handle(request, response);
  }

  function next(queue: Queue, socket: Socket): void {
    queue.isBusy = false;
    if (!socket.writable) queue.waiting = [];
    const exchange = queue.waiting.shift();
    if (exchange !== undefined) dispatch(queue, exchange);
  }

  return (request, response) => {
    const { socket } = request;
    // A response that ended the connection, or its client, leaves nothing to answer on.
    if (socket.destroyed || !socket.writable) return;
    const queue = queues.get(socket) ?? { isBusy: false, waiting: [] };
    if (!queue.isBusy) {
      queues.set(socket, queue);
      return dispatch(queue, [request, response]);
    }
    if (queue.waiting.length < MAX_WAITING_REQUESTS) return void queue.waiting.push([request, response]);
    queue.waiting = [];
    socket.resetAndDestroy();
  };
}
