// Shows JSON from standard input, or one member of it: curl ... | npx node examples/common/json.ts [summary.verdict]
import { text } from 'node:stream/consumers';
import { inspect } from 'node:util';

const input = await text(process.stdin);
// curl has said why there is nothing.
if (input.trim() === '') process.exit(1);

let value: unknown = JSON.parse(input);
for (const name of process.argv[2]?.split('.') ?? []) value = (value as Record<string, unknown> | undefined)?.[name];
if (value === undefined) {
  console.error(`There is no ${process.argv[2]} in this answer: ${inspect(JSON.parse(input))}`);
  process.exit(1);
}
console.log(typeof value === 'string' ? value : inspect(value, { depth: 3 }));
