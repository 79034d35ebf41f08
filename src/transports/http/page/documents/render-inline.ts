import type { Token, Tokens } from 'marked';
import { el, type Markup } from '../../../../views/markup.ts';

/** Address of a link; null: its text alone is written. */
export type LinkResolver = (href: string) => string | null;

/** Text within a line. Everything that is no Markdown, such as HTML, is written as text. */
export function renderInline(tokens: readonly Token[], resolve: LinkResolver): Markup {
  return (tokens as readonly (Tokens.Generic | Token)[]).map((token) => renderToken(token as Tokens.Generic, resolve));
}

function renderToken(token: Tokens.Generic, resolve: LinkResolver): Markup {
  const inner = () => (token.tokens === undefined ? decodeEntities(token.text) : renderInline(token.tokens, resolve));
  switch (token.type) {
    case 'strong':
    case 'em':
    case 'del':
      return el(token.type, {}, inner());
    case 'codespan':
      return el('code', {}, token.text);
    case 'br':
      return el('br');
    case 'link':
      return renderLink(resolve(token.href), inner());
    case 'image':
      return token.text;
    case 'html':
      return isComment(token.raw) ? null : token.raw;
    case 'escape':
      return token.text;
    default:
      return inner();
  }
}

function renderLink(href: string | null, text: Markup): Markup {
  return href === null ? text : el('a', { href }, text);
}

/** Markers of generated tables. */
export function isComment(html: string): boolean {
  return /^\s*<!--[\s\S]*-->\s*$/.test(html);
}

/** What a reader sees of a line: for ids and labels. */
export function toPlainText(tokens: readonly Token[]): string {
  return (tokens as readonly Tokens.Generic[])
    .map((token) => (token.tokens === undefined ? decodeEntities(token.text ?? '') : toPlainText(token.tokens)))
    .join('');
}

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'", nbsp: '\u00a0' };

/** The parser leaves entities as they are. */
function decodeEntities(text: string): string {
  return text.replaceAll(/&(amp|lt|gt|quot|#39|nbsp);/g, (_, name: string) => ENTITIES[name]!);
}
