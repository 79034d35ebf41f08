import fc from 'fast-check';
import { bytesToHex, hexToBytes, sha256, stringToBytes } from 'viem';
import { describe, expect, it } from 'vitest';
import type { OtsAttestation } from '../../../../src/verify/timestamps/ots-attestations.ts';
import { parseOtsFile, serializeOtsFile } from '../../../../src/verify/timestamps/ots-file.ts';
import { applyOperation, type OtsOperation } from '../../../../src/verify/timestamps/ots-operations.ts';
import {
  extendTimestamp,
  listAttestations,
  mergeTimestamps,
  parseTimestamp,
  serializeTimestamp,
  type TimestampTree,
} from '../../../../src/verify/timestamps/ots-tree.ts';

const decode = (base64: string) => new Uint8Array(Buffer.from(base64, 'base64'));

// The published examples of the reference client: `hello-world.txt` in Bitcoin block 358391, and `merkle1.txt` at two calendars.
const HELLO_WORLD = decode(
  'AE9wZW5UaW1lc3RhbXBzAABQcm9vZgC/ieLohOiSlAEIA7ogTlDRJuRnTABeBNguhMITZngK8fQ71Uo3gWtqs0AD8cgBAQAAAAHkgvnTLsw7ple2nYmAEIV7VEV6kEl5gv9W+XxOxY5vmAEAAABrSDBFAiEAslOt0dHPkIRDOKR1oE/xP8nnvSQrB3Yt6gf1YIst42cCIACyaMqcM0KzdpzdBiiRMXzc74eqwxC2hV6dk4mOu+jsASECDY5NEH0rM5sAUO/dS0oJJFqgVgSPElOWN06moqsHCcb/////AmUz5gUAAAAAGXapFAvwV9QPu6Z0SGJRX1tVojEN5XcviKyghgEAAAAAABl2qRTwBoisAAAAAAgI8SCph/cWxTORPDFMeONdNYhMrJQ/pCysSdKyxp9AA/hfiAgI8SDexVs0h+Hj9yKkm1WneDIVhieF9KOss5KEYBn3HcZKnQgI8SCyyhj0heCAR44CXas9RktBbA4ey2Ypya786MghTQQkMggI8CARsOkGYRlv9LCBPD7aFBurXpFgSDe996DJ3zfbDjoRmAgI8CDDS8GkoQk//RSMAWseZkdCkU6Tnvq+TT01ZRWRSybZ4ggI8CDD5ufDjGn2ryTCvjTrrEglft5h7AohuVNeREMne+MGRggI8SAHmL+GBuAAJOXV1UvwyWD2Kd+52taRV0VbbyZSwOjegQgI8CA/mtptYLqiRABrsKrVFEitL6+51LZIegmZz/JrkfD1NggI8SDHAwGelZqN0/rvdIm7MoukhVdHWOcJHwFGTrZYcsl1yAgI8CDL/v/1E/+EuRXj/tb515lnZjD4Nk6ipsdVf62UpbXXiAgI8SAL4jcJhZkTur1EYLvd+O0hPnyHc6Sx+s4w+Kz98JO3BQgIAAWIlg1z1xkBA/fvFQ==',
);
const MERKLE_1 = decode(
  'AE9wZW5UaW1lc3RhbXBzAABQcm9vZgC/ieLohOiSlAEI0y/umoJ/Wg1YD4C+t+3OZi3Zn81lkeTvimJEQD3wt8nwEAIBo2rAxzaS0c7cq/8GCesI8CCfQphMzblq3beYhOcUzGtrBZxo8qw6LgfFGYwi2QTeFAjwIAJjVueXLwI5MOyEwhOt7cQFBGCXOTW70vTfPXvV3sVfCP/wEC4SBQr9ehDqT1ke1xfTXeYI8QRX2YLf8Aix8m4uVVkEdwCD3+MNLvkMji4taHR0cHM6Ly9hbGljZS5idGMuY2FsZW5kYXIub3BlbnRpbWVzdGFtcHMub3Jn8BBKqt6cL/uFPM/5wHaB0Bn9CPEEV9mC4PAIZkTvcTBxdioAg9/jDS75DI4sK2h0dHBzOi8vYm9iLmJ0Yy5jYWxlbmRhci5vcGVudGltZXN0YW1wcy5vcmc=',
);

const bytes = (max: number) => fc.uint8Array({ minLength: 1, maxLength: max });

const attestation: fc.Arbitrary<OtsAttestation> = fc.oneof(
  fc.record({ kind: fc.constant('bitcoin' as const), height: fc.nat() }),
  fc.record({
    kind: fc.constant('pending' as const),
    uri: fc.webUrl({ validSchemes: ['https'] }).filter((url) => /^[A-Za-z0-9._/:-]{1,200}$/.test(url)),
  }),
  fc.record({
    kind: fc.constant('unknown' as const),
    tag: bytes(8).map((tag) => bytesToHex(Uint8Array.from({ length: 8 }, (_, at) => tag[at] ?? 7))),
    payload: fc.uint8Array({ maxLength: 40 }).map((payload) => bytesToHex(payload)),
  }),
);

const operation: fc.Arbitrary<OtsOperation> = fc.oneof(
  fc.record({ name: fc.constantFrom('append' as const, 'prepend' as const), argument: bytes(48) }),
  fc.record({ name: fc.constantFrom('sha256' as const, 'ripemd160' as const, 'keccak256' as const) }),
);

interface Shape {
  attestations: OtsAttestation[];
  next: { operation: OtsOperation; shape: Shape }[];
}

const { shape } = fc.letrec<{ shape: Shape; leaf: Shape; inner: Shape }>((tie) => ({
  leaf: fc.record({ attestations: fc.array(attestation, { minLength: 1, maxLength: 2 }), next: fc.constant([]) }),
  inner: fc.record({
    attestations: fc.array(attestation, { maxLength: 2 }),
    next: fc.array(fc.record({ operation, shape: tie('shape') }), { minLength: 1, maxLength: 3 }),
  }),
  shape: fc.oneof({ depthSize: 'small', withCrossShrink: true }, tie('leaf'), tie('inner')),
}));

function grow({ attestations, next }: Shape, message: Uint8Array): TimestampTree {
  const branches = next.map(({ operation: step, shape: rest }) => ({ operation: step, tree: grow(rest, applyOperation(step, message)) }));
  return { message, attestations, branches };
}

const list = (tree: TimestampTree) =>
  listAttestations(tree)
    .map(({ message, attestation: made }) => `${bytesToHex(message)} ${JSON.stringify(made)}`)
    .sort();

describe('OpenTimestamps files', () => {
  it('reads a published proof up to its block, and writes the same bytes', () => {
    const tree = parseOtsFile(HELLO_WORLD);
    expect(bytesToHex(tree.message)).toBe(sha256(stringToBytes('Hello World!\n')));
    const [{ message, attestation: made }, ...others] = listAttestations(tree);
    expect(made).toEqual({ kind: 'bitcoin', height: 358_391 });
    expect(bytesToHex(message)).toBe('0x007ee445d23ad061af4a36b809501fab1ac4f2d7e7a739817dd0cbb7ec661b8a');
    expect(others).toEqual([]);
    expect(serializeOtsFile(tree)).toEqual(HELLO_WORLD);
  });

  it('reads and writes a published proof of two calendars', () => {
    const tree = parseOtsFile(MERKLE_1);
    const calendars = listAttestations(tree).map(({ attestation: made }) => (made.kind === 'pending' ? made.uri : made.kind));
    expect(calendars).toEqual(['https://alice.btc.calendar.opentimestamps.org', 'https://bob.btc.calendar.opentimestamps.org']);
    expect(serializeOtsFile(tree)).toEqual(MERKLE_1);
  });

  it('returns every tree that it has written, in the order of its bytes', () => {
    fc.assert(
      fc.property(shape, (grown) => {
        const tree = grow(grown, sha256(stringToBytes('document'), 'bytes'));
        const written = serializeOtsFile(tree);
        const read = parseOtsFile(written);
        expect(list(read)).toEqual(list(tree));
        expect(serializeOtsFile(read)).toEqual(written);
      }),
      { numRuns: 200 },
    );
  });

  it('throws an error of its own, and no other, for bytes that are cut or changed', () => {
    const invalid = (file: Uint8Array) => {
      try {
        parseOtsFile(file);
        return true;
      } catch (error) {
        return (error as Error).constructor.name === 'InvalidTimestampError';
      }
    };
    for (let length = 0; length < MERKLE_1.length; length++) expect(() => parseOtsFile(MERKLE_1.subarray(0, length))).toThrow();
    fc.assert(fc.property(fc.nat(MERKLE_1.length - 1), fc.nat(255), (at, value) => invalid(MERKLE_1.with(at, value))));
    fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), (tail) => invalid(Uint8Array.from([...MERKLE_1.subarray(0, 65), ...tail]))));
  });

  it('rejects trailing bytes, deep nesting, unknown operations, long results and long numbers', () => {
    const message = new Uint8Array(32);
    const parse = (hex: string) => () => parseTimestamp(hexToBytes(`0x${hex}`), message);
    const block = '000588960d73d719010101';
    expect(parse(block)).not.toThrow();
    expect(parse(`${block}00`)).toThrow('bytes follow the end');
    expect(parse(`${'08'.repeat(257)}${block}`)).toThrow('nested too deeply');
    expect(parse(`02${block}`)).toThrow('unknown operation, 0x02');
    expect(parse(`f0ff1f${'00'.repeat(4_095)}${block}`)).toThrow('gives 4127 bytes');
    expect(parse(`f0ffffffffffffffff7f${block}`)).toThrow('too large');
    expect(parse(`f000${block}`)).toThrow('0 bytes where 1 to 4096 may be');
    expect(parse(`${'ff000588960d73d719010101'.repeat(4_000)}${block}`)).toThrow('more than 4000 steps');
    expect(parse('0083dfe30d2ef90c8e0b0a687474703a2f2f612f3f')).toThrow('invalid address');
  });
});

describe('merging timestamps', () => {
  const start = new Uint8Array(32).fill(5);
  const branch = (name: 'append' | 'prepend', made: OtsAttestation): Shape => ({
    attestations: [],
    next: [
      {
        operation: { name, argument: start },
        shape: { attestations: [], next: [{ operation: { name: 'sha256' }, shape: { attestations: [made], next: [] } }] },
      },
    ],
  });

  it('keeps what both prove, once', () => {
    const a = grow(branch('append', { kind: 'bitcoin', height: 1 }), start);
    const b = grow(branch('append', { kind: 'pending', uri: 'https://a.example' }), start);
    const c = grow(branch('prepend', { kind: 'bitcoin', height: 2 }), start);
    const merged = [b, c, a].reduce(mergeTimestamps, a);
    expect(list(merged)).toEqual([...list(a), ...list(b), ...list(c)].sort());
    expect(parseTimestamp(serializeTimestamp(merged), start).branches).toHaveLength(2);
  });

  it('throws for proofs of different messages', () => {
    const a = grow(branch('append', { kind: 'bitcoin', height: 1 }), start);
    expect(() => mergeTimestamps(a, { ...a, message: new Uint8Array(32) })).toThrow('different messages');
  });

  it('extends a pending branch by what its calendar answers for that message', () => {
    const tree = grow(branch('append', { kind: 'pending', uri: 'https://a.example' }), start);
    const [{ message }] = listAttestations(tree);
    const extended = extendTimestamp(tree, grow(branch('prepend', { kind: 'bitcoin', height: 9 }), message));
    expect(listAttestations(extended).map(({ attestation: made }) => made.kind)).toEqual(['pending', 'bitcoin']);
    expect(bytesToHex(extended.message)).toBe(bytesToHex(start));
  });
});
