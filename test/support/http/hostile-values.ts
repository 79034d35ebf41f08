/** Texts that no field takes but by its form, by what they are tried for. */
export const HOSTILE_TEXTS = {
  blank: ' ',
  'not a number': 'NaN',
  infinity: 'Infinity',
  'beyond a double': '1e400',
  'minus zero': '-0',
  hexadecimal: '0x10',
  'a number of 400 digits': '9'.repeat(400),
  'NUL inside': '7d\u0000',
  'NUL alone': '\u0000',
  'written right to left': '\u202e7d\u202c',
  'lone surrogate': '\ud800',
  emoji: '\u{1f4a5}\u{1f468}\u200d\u{1f469}\u200d\u{1f467}',
  'combining marks': `a${'\u0301'.repeat(50)}`,
  'full-width digits': '\uff17d',
  operator: '{"$gt":""}',
  code: '$where: sleep(5000)',
  prototype: '__proto__',
  constructor: 'constructor',
  'path upwards': '../../../etc/passwd',
  'encoded path upwards': '..%2f..%2f',
  script: '<script>alert(1)</script>',
  'attribute breaker': '"><img src=x onerror=alert(1)>',
  'encoded NUL': '%00',
  'bad percent-encoding': '%E0%A4%A',
  SQL: "' OR '1'='1'; DROP TABLE forecasts; --",
  // biome-ignore lint/suspicious/noTemplateCurlyInString: what others would take for a template
  'format string': '%s%s%s%n{0}{{7*7}}${7*7}',
  'header breaker': 'x\r\nSet-Cookie: a=b\r\n\r\n<h1>',
  shell: '$(id); `id` | cat',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: what others would take for a template
  lookup: '${jndi:ldap://127.0.0.1/a}',
  'expression that backtracks': `${'a'.repeat(400)}!`,
} as const;

/** Longer than any field may be, and shorter than a URL may be. */
export const LONG_TEXT = 'z'.repeat(3_000);

/** Longer than a URL may be, and shorter than a body may be. */
export const LONGER_TEXT = 'z'.repeat(10_000);

/** Values of JSON by the type that they are of. */
export const JSON_VALUES: Record<string, unknown[]> = {
  string: ['', 'text', '1'],
  number: [0.5, 1e308, -1],
  integer: [Number.MAX_SAFE_INTEGER + 1, -1],
  boolean: [true, false],
  null: [null],
  array: [[], [null], [[[[]]]]],
  object: [{}, { $gt: '' }, { $where: '1' }, { length: 1 }, { toString: 'x' }],
};

/** Bodies that are no object of JSON, as they go over the wire. */
export const HOSTILE_BODIES: Record<string, string | Buffer> = {
  null: 'null',
  number: '1',
  text: '"text"',
  list: '[]',
  'list of lists': `${'['.repeat(5_000)}${']'.repeat(5_000)}`,
  'half an object': '{"wallet":',
  'no JSON': '{wallet: 1}',
  'two of them': '{}{}',
  'NaN in it': '{"a":NaN}',
  'comment in it': '{/* */}',
  form: 'wallet=1&signature=2',
  XML: '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>',
  'bytes that are no UTF-8': Buffer.from([0xff, 0xfe, 0x7b, 0x7d]),
  UTF16: Buffer.from('{}', 'utf16le'),
  control: '\u0000\u0001',
};

/** Undeclared members, as JSON. */
export const UNDECLARED_MEMBERS: [name: string, json: string][] = [
  ['__proto__', '{"polluted":true}'],
  ['constructor', '{"prototype":{"polluted":true}}'],
  ['toString', '"x"'],
  ['$where', '"1"'],
  ['a.b', '1'],
  ['<script>', '1'],
  ['then', '1'],
];

/** Signs of internals. */
const INSIDES = [
  /\bat .{1,200}:\d+:\d+/,
  /node_modules|node:internal|file:\/\/|\/src\/|\.ts\b/,
  /ZodError|MongoServerError|MongoError|TypeError|RangeError|SyntaxError|URIError|ReferenceError|AssertionError/,
  /\b(?:viem|express|mongodb|body-parser|jose|zod)\b/i,
  /Unexpected token|JSON at position|Cannot read propert|is not a function|undefined/,
];

/** Whether a text names stacks, files, libraries or their messages. */
export function tellsInsides(text: string): boolean {
  return INSIDES.some((pattern) => pattern.test(text));
}
