import { once } from 'node:events';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createLineFilter, type LineRejection } from '../../../src/mcp/stdio.ts';

const MAX_LINE_BYTES = 64 * 1024;

async function filterLines(chunks: Buffer[]): Promise<{ passed: string; rejected: LineRejection[] }> {
  const rejected: LineRejection[] = [];
  const lines = createLineFilter((one) => rejected.push(one));
  const passed: Buffer[] = [];
  lines.on('data', (chunk: Buffer) => passed.push(chunk));
  for (const chunk of chunks) lines.write(chunk);
  lines.end();
  await once(lines, 'end');
  return { passed: Buffer.concat(passed).toString('utf8'), rejected };
}

const request = (id: number, method: string) => JSON.stringify({ jsonrpc: '2.0', id, method, params: {} });

it('passes messages unchanged and rejects other lines, wherever chunks end', async () => {
  const line = fc.oneof(
    fc.record({
      good: fc.constant(true),
      text: fc.tuple(fc.nat(), fc.string({ unit: 'grapheme' })).map(([id, method]) => request(id, method)),
    }),
    fc.record({
      good: fc.constant(false),
      text: fc.constantFrom('x', '{', '{}', '[]', 'null', '1', '"a"', '{"jsonrpc":"1.0","id":1,"method":"a"}'),
    }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(line, { maxLength: 8 }), fc.array(fc.nat({ max: 400 }), { maxLength: 12 }), async (lines, cuts) => {
      const whole = Buffer.from(lines.map(({ text }) => `${text}\n`).join(''));
      const edges = [0, ...cuts.map((cut) => cut % (whole.length + 1)).toSorted((a, b) => a - b), whole.length];
      const { passed, rejected } = await filterLines(edges.slice(1).map((end, i) => whole.subarray(edges[i], end)));
      const good = lines.filter((one) => one.good);
      expect(passed).toBe(good.map(({ text }) => `${text}\n`).join(''));
      expect(rejected).toHaveLength(lines.length - good.length);
    }),
  );
});

it.each([
  ['hello', -32_700, null],
  ['[]', -32_600, null],
  ['{"jsonrpc":"2.0","id":"a","method":1}', -32_600, 'a'],
  [`{"jsonrpc":"2.0","id":"${'a'.repeat(101)}","method":1}`, -32_600, null],
  ['{"jsonrpc":"2.0","id":{},"method":"a"}', -32_600, null],
])('rejects %s with the code and the id of JSON-RPC', async (line, code, id) => {
  const data = { code: 'INPUT_INVALID', field: 'line', suggestedAction: expect.any(String) };
  expect((await filterLines([Buffer.from(`${line}\n`)])).rejected).toMatchObject([{ jsonrpc: '2.0', id, error: { code, data } }]);
});

it('ignores empty lines and an unfinished last line', async () => {
  expect(await filterLines([Buffer.from('\n \r\nunfinished')])).toEqual({ passed: '', rejected: [] });
});

it('passes messages of 64 KiB, rejects a longer one, and reads the next', async () => {
  const around = request(1, '').length;
  const largest = request(1, 'm'.repeat(MAX_LINE_BYTES - around));
  const { passed, rejected } = await filterLines([Buffer.from(`${largest}\n${largest}+\n${request(2, 'ping')}\n`)]);
  expect(passed).toBe(`${largest}\n${request(2, 'ping')}\n`);
  expect(rejected).toMatchObject([{ error: { message: expect.stringContaining('larger than 65536 bytes') } }]);
});
