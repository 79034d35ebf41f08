import { expect, it } from 'vitest';
import { escapeIcalText, escapeXml, renderIcal, xml, xmlText } from '../../../../src/http/routes/feeds.ts';

it('text of iCalendar is escaped by RFC 5545', () => {
  expect(escapeIcalText('a;b,c\\d\ne\r\nf:"g"')).toBe('a\\;b\\,c\\\\d\\ne\\nf:"g"');
});

it('lines of iCalendar are folded at 75 octets between characters, and unfold to what they were', () => {
  const value = `${'a'.repeat(60)}${'−'.repeat(60)}${'💶'.repeat(40)}`;
  const text = renderIcal([['SUMMARY', value]]);
  expect(text.replaceAll('\r\n ', '')).toBe(`SUMMARY:${value}\r\n`);
  for (const line of text.split('\r\n')) expect(Buffer.byteLength(line)).toBeLessThanOrEqual(75);
  expect(text).not.toContain('\ufffd');
  expect(renderIcal([['X', 'b'.repeat(73)]])).toBe(`X:${'b'.repeat(73)}\r\n`);
});

it('elements and attributes of XML are escaped once, and hold no character that XML has not', () => {
  expect(xmlText('a', '<b> & "c"\u0000\u001b\uffff')).toBe('<a>&lt;b&gt; &amp; &quot;c&quot;</a>');
  expect(xml('a', { href: '?x=1&y="2"' }, escapeXml('&'))).toBe('<a href="?x=1&amp;y=&quot;2&quot;">&amp;</a>');
  expect(xml('link', { rel: 'self' })).toBe('<link rel="self"/>');
});
