import { once } from 'node:events';
import type { Writable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import * as library from 'ws';
import { OracleError } from '../../../../src/errors.ts';
import { PUSHED_NAMES } from '../../../../src/events/events.ts';
import type { AnyEvent } from '../../../../src/events/log.ts';
import { buildSubscription, matchesSubscription } from '../../../../src/events/websocket/connection.ts';
import { CLIENT_MESSAGE, FrameRateLimit, MAX_FRAMES_PER_MINUTE, parseClientMessage } from '../../../../src/events/websocket/hub.ts';
import { CLOSE_CODES, encodeTextFrame } from '../../../../src/events/websocket/messages.ts';

describe('encode frame', () => {
  /** The library's reader of a server's frames, which its types lack. */
  const { Receiver } = library as unknown as { Receiver: new (options: { isServer: boolean }) => Writable };

  async function decode(frame: Buffer): Promise<string> {
    const receiver = new Receiver({ isServer: false });
    const received = once(receiver, 'message');
    receiver.write(frame);
    const [data, isBinary] = (await received) as [Buffer, boolean];
    expect(isBinary).toBe(false);
    return data.toString();
  }

  it.each([0, 1, 125, 126, 65_535, 65_536, 200_000])('encodes a message of %i bytes as a frame that a client reads', async (bytes) => {
    const text = 'x'.repeat(bytes);
    expect(await decode(encodeTextFrame(text))).toBe(text);
  });

  it('counts bytes, not characters', async () => {
    const text = 'é€😀'.repeat(50);
    expect(await decode(encodeTextFrame(text))).toBe(text);
  });
});

describe('messages', () => {
  const HORIZONS = ['1d', '2d', '3d', '7d'] as const;
  const anyEvents = fc.uniqueArray(fc.constantFrom(...PUSHED_NAMES), { minLength: 1 });
  const anyHorizons = fc.uniqueArray(fc.constantFrom(...HORIZONS), { minLength: 1 });

  function refusalOf(text: string): OracleError | null {
    try {
      parseClientMessage(Buffer.from(text), false);
      return null;
    } catch (error) {
      expect(error).toBeInstanceOf(OracleError);
      return error as OracleError;
    }
  }

  describe('a message of a client', () => {
    it('is rejected as bad input and in few words, whatever it is, unless it is one of those that there are', () => {
      const anything = fc.oneof(
        fc.string(),
        fc.json(),
        fc
          .record({ type: fc.constantFrom('subscribe', 'ping', 'authenticate', 'x'), data: fc.jsonValue() })
          .map((value) => JSON.stringify(value)),
      );
      fc.assert(
        fc.property(anything, (text) => {
          const error = refusalOf(text);
          if (error === null) {
            expect(CLIENT_MESSAGE.safeParse(JSON.parse(text)).success).toBe(true);
            return;
          }
          expect(error.code).toBe('INPUT_INVALID');
          expect(error.field).toEqual(expect.any(String));
          expect(error.message.length).toBeLessThan(400);
        }),
        { numRuns: 500 },
      );
    });

    it('is never repeated', () => {
      const secret = 'eyJhbGciOiJFZERTQSJ9.secret';
      for (const message of [
        { type: secret },
        { type: 'authenticate', data: { token: [secret] } },
        { type: 'authenticate', data: { token: secret.repeat(200) } },
      ]) {
        expect(refusalOf(JSON.stringify(message))!.message).not.toContain(secret);
      }
    });
  });

  describe('a subscription', () => {
    const event = (type: AnyEvent['type'], horizonDays: number | null, wallet: string | null = null) =>
      ({ type, horizonDays, wallet, content: {} }) as AnyEvent;

    it('passes what was asked for and nothing else', () => {
      fc.assert(
        fc.property(
          anyEvents,
          anyHorizons,
          fc.constantFrom(...PUSHED_NAMES),
          fc.constantFrom(null, 1, 2, 3, 7),
          (events, horizons, type, days) => {
            const isAsked = events.includes(type) && (days === null || horizons.includes(`${days}d` as '7d'));
            expect(matchesSubscription(event(type, days), buildSubscription({ events, horizons }), '0xa')).toBe(isAsked);
            expect(matchesSubscription(event(type, days), buildSubscription({ events, horizons: null }), '0xa')).toBe(
              events.includes(type),
            );
            expect(matchesSubscription(event(type, days), buildSubscription({}), '0xa')).toBe(days === null || days === 7);
            const isDaily = type !== 'signal.new' && (days === null || days === 1);
            expect(matchesSubscription(event(type, days), buildSubscription({ moveSize: ['WILD'] }), '0xa')).toBe(isDaily);
            expect(matchesSubscription(event(type, days), buildSubscription({ horizon: '2d' }), '0xa')).toBe(days === null || days === 2);
            expect(matchesSubscription(event(type, days, '0xb'), buildSubscription({ horizons: null }), '0xa')).toBe(false);
            expect(matchesSubscription(event(type, days, '0xa'), buildSubscription({ horizons: null }), '0xa')).toBe(true);
          },
        ),
      );
    });

    it('is the same whatever the order and however often a name comes', () => {
      fc.assert(
        fc.property(anyEvents, anyHorizons, (events, horizons) => {
          const twice = { events: [...events, ...events].reverse(), horizons: [...horizons, ...horizons].reverse() };
          expect(buildSubscription(twice)).toEqual(buildSubscription({ events, horizons }));
        }),
      );
    });
  });

  describe('the budget of frames', () => {
    it.each(['all', 'invalid'] as const)('of kind %s begins anew each minute', (kind) => {
      let nowMs = 1_000_000;
      const budget = new FrameRateLimit(() => new Date(nowMs));
      const taken = () => Array.from({ length: 200 }, () => budget.take(kind)).filter(Boolean).length;
      expect(taken()).toBe(MAX_FRAMES_PER_MINUTE[kind]);
      nowMs += 59_999;
      expect(taken()).toBe(0);
      nowMs += 1;
      expect(taken()).toBe(MAX_FRAMES_PER_MINUTE[kind]);
    });
  });

  it('every close has a code of its own, which may be sent, and a reason that fits its frame', () => {
    const codes = Object.values(CLOSE_CODES).map(({ code }) => code);
    expect(new Set(codes).size).toBe(codes.length);
    for (const { code, reason } of Object.values(CLOSE_CODES)) {
      expect(code >= 4_000 || [1001, 1002, 1007, 1008, 1009, 1013].includes(code), String(code)).toBe(true);
      expect(Buffer.byteLength(reason)).toBeLessThanOrEqual(123);
    }
  });
});
