import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Pipelined requests per socket; browsers, proxies and client libraries do not pipeline. */
const MAX_WAITING_REQUESTS = 16;

type Exchange = [request: IncomingMessage, response: ServerResponse];

interface Queue {
  isBusy: boolean;
  waiting: Exchange[];
}

/**
 * Handles the requests of each socket in order, one at a time, so that a client that does not read holds one response in memory. Resets
 * a socket with more than `MAX_WAITING_REQUESTS` pipelined requests, and drops requests of a closed socket.
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
