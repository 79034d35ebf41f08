import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** Pipelined requests per socket; browsers, proxies and client libraries do not pipeline. */
const MAX_WAITING_REQUESTS = 16;

/** Time in one turn of the event loop for requests that begin; those after it wait, so that answers under way are not delayed. */
const MAX_TURN_MS = 8;

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

/**
 * Begins requests for at most `MAX_TURN_MS` in a turn of the event loop. Of those that wait, requests that name a credential begin by turns
 * with the others: hundreds of anonymous callers delay a token holder by one turn, and so do hundreds of invented tokens the others.
 */
export function beginByTurns(handle: RequestListener): RequestListener {
  const [named, anonymous]: [Exchange[], Exchange[]] = [[], []];
  let turnEndsMs: number | null = null;

  function beginWaiting(): void {
    turnEndsMs = performance.now() + MAX_TURN_MS;
    for (let isNamed = true; named.length + anonymous.length > 0 && performance.now() < turnEndsMs; isNamed = !isNamed) {
      const exchange = (isNamed ? named : anonymous).shift();
      if (exchange !== undefined && !exchange[1].closed) handle(...exchange);
    }
    endTurn();
  }

  function endTurn(): void {
    setImmediate(() => {
      if (named.length + anonymous.length > 0) beginWaiting();
      else turnEndsMs = null;
    });
  }

  return (request, response) => {
    if (turnEndsMs === null) {
      turnEndsMs = performance.now() + MAX_TURN_MS;
      endTurn();
    }
    if (named.length + anonymous.length === 0 && performance.now() < turnEndsMs) return handle(request, response);
    (request.headers.authorization === undefined ? anonymous : named).push([request, response]);
  };
}
