import { AnswerTooLong } from '../../platform/outbound/bounded-body.ts';
import { type Asked, askHead, askNode, type NodeError, type NodeReply, NodeSilent } from './ask-node.ts';
import { errorAnswer, type ReadingCall, RPC_ERROR, type RpcAnswer, type RpcError, readCall } from './call.ts';
import { isTooLong, MOST_BLOCKS, needsHead } from './log-range.ts';
import { createTurns, type TakeTurn, TooManyWait } from './turns.ts';

/** Reads a chain for whoever asks, by JSON-RPC 2.0; nothing that changes it is passed on. */
export interface ReadOnlyRpc {
  /**
   * One call, or up to `MOST_CALLS` of them. What goes wrong with a call, or with the chain, is told in its answer.
   * @param isReserved whether the request goes before those that are not
   */
  answer(body: unknown, isReserved?: boolean): Promise<RpcAnswer | RpcAnswer[]>;
}

export interface ReadOnlyRpcOptions {
  rpcUrl: string;
  /** How long all calls of one request may take together. */
  timeoutMs?: number;
  /** The largest answer to all of them. */
  mostBytes?: number;
}

/** Calls in one request. */
export const MOST_CALLS = 50;
/** Of them, those for logs: each may go through every log that there is. */
export const MOST_LOG_CALLS = 4;

/** Requests that are before the node at once, whoever asks: it answers the service itself too, and one after another. */
export const TURNS = { atOnce: 2, waiting: 30 };
const MOST_BYTES = 8 * 2 ** 20;
/** Of a node's own words. */
const LONGEST_MESSAGE = 500;
/** Data of a revert, as hex: what no contract of a demonstration comes near. */
const LONGEST_DATA = 20_000;

const UNREACHABLE = 'The chain does not answer, or not within the time that is allowed; ask for less, or again later';
const TOO_LONG = 'The answer is longer than what one request is given; ask for less at once';

export function createReadOnlyRpc(options: ReadOnlyRpcOptions): ReadOnlyRpc {
  const takeTurn = createTurns(TURNS);
  return {
    answer: async (body, isReserved) => {
      const inTurn: TakeTurn = (work, signal) => takeTurn(work, signal, isReserved);
      if (!Array.isArray(body)) return (await answerAll(options, inTurn, [body]))[0];
      if (body.length > 0 && body.length <= MOST_CALLS) return answerAll(options, inTurn, body);
      return errorAnswer(null, RPC_ERROR.invalidRequest, `A batch has 1 to ${MOST_CALLS} calls`);
    },
  };
}

/** An answer to each, in their order. */
async function answerAll(options: ReadOnlyRpcOptions, takeTurn: TakeTurn, bodies: readonly unknown[]): Promise<RpcAnswer[]> {
  const read = bodies.map(readCall);
  const calls = withoutManyLogs(read.filter((one): one is ReadingCall => 'method' in one));
  const signal = AbortSignal.timeout(options.timeoutMs ?? 10_000);
  const answers: Answers = new Map();
  if (calls.length > 0) {
    const asked = { rpcUrl: options.rpcUrl, signal, bytesLeft: options.mostBytes ?? MOST_BYTES };
    await takeTurn(() => answerInTurn(asked, calls, answers), signal).catch((error: unknown) => {
      // What the chain has not answered by then is answered below; what is wrong here is no silence of the chain.
      if (error !== signal.reason && !SILENCES.some((Silence) => error instanceof Silence)) throw error;
    });
  }
  return read.map((one) => ('method' in one ? (answers.get(one) ?? refusal(one, calls)) : one));
}

/** Why calls stay without an answer of the chain. */
const SILENCES = [NodeSilent, TooManyWait, AnswerTooLong];

type Answers = Map<ReadingCall, RpcAnswer>;
const isLogs = ({ method }: ReadingCall) => method === 'eth_getLogs';

/** All calls but those for logs beyond the first few. */
function withoutManyLogs(calls: readonly ReadingCall[]): ReadingCall[] {
  const refused = new Set(calls.filter(isLogs).slice(MOST_LOG_CALLS));
  return calls.filter((call) => !refused.has(call));
}

function refusal(call: ReadingCall, asked: readonly ReadingCall[]): RpcAnswer {
  if (asked.includes(call)) return errorAnswer(call.id, RPC_ERROR.internal, UNREACHABLE);
  return errorAnswer(call.id, RPC_ERROR.limitExceeded, `eth_getLogs: at most ${MOST_LOG_CALLS} of one request are answered`);
}

/** Logs one call after another: each may be long. All others at once. */
async function answerInTurn(asked: Asked, calls: readonly ReadingCall[], answers: Answers): Promise<void> {
  const passed = await withinRange(asked, calls, answers);
  const others = passed.filter((call) => !isLogs(call));
  await answerTogether(asked, others, answers);
  for (const call of passed.filter(isLogs)) await answerTogether(asked, [call], answers);
}

/** One that is too long fails alone. */
async function answerTogether(asked: Asked, calls: readonly ReadingCall[], answers: Answers): Promise<void> {
  try {
    const replies = await askNode(asked, calls);
    for (const [index, call] of calls.entries()) answers.set(call, told(call, replies.get(index)));
  } catch (error) {
    if (!(error instanceof AnswerTooLong)) throw error;
    if (calls.length === 1) answers.set(calls[0], errorAnswer(calls[0].id, RPC_ERROR.limitExceeded, TOO_LONG));
    else for (const call of calls) await answerTogether(asked, [call], answers);
  }
}

/** The calls that ask for no more logs than are read at once; the others get their answers here. */
async function withinRange(asked: Asked, calls: readonly ReadingCall[], answers: Answers): Promise<ReadingCall[]> {
  const head = calls.some(needsHead) ? await askHead(asked) : 0n;
  return calls.filter((call) => {
    if (!isTooLong(call, head)) return true;
    const message = `eth_getLogs: a range may have ${MOST_BLOCKS} blocks; ask for it in parts`;
    answers.set(call, errorAnswer(call.id, RPC_ERROR.limitExceeded, message));
    return false;
  });
}

function told({ id }: ReadingCall, reply: NodeReply | undefined): RpcAnswer {
  if (reply === undefined) return errorAnswer(id, RPC_ERROR.internal, UNREACHABLE);
  const { result = null, error } = reply;
  return error ? { jsonrpc: '2.0', id, error: toldError(error) } : { jsonrpc: '2.0', id, result };
}

function toldError({ code, message, data }: NodeError): RpcError {
  return {
    code: Number.isInteger(code) ? (code as number) : RPC_ERROR.internal,
    message: typeof message === 'string' ? message.slice(0, LONGEST_MESSAGE) : 'The chain does not say why',
    ...(typeof data === 'string' && data.length <= LONGEST_DATA ? { data } : {}),
  };
}
