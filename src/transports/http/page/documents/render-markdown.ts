import { Lexer, type Token, type Tokens } from 'marked';
import { el, type Markup } from '../../../../views/markup.ts';
import { createHeadingIds } from './heading-ids.ts';
import { isComment, type LinkResolver, renderInline, toPlainText } from './render-inline.ts';
import { renderTable } from './render-table.ts';

export interface Heading {
  id: string;
  text: string;
  depth: number;
}

export interface RenderedMarkdown {
  headings: Heading[];
  body: Markup;
}

/** Markdown as a tree of elements, whose text is only ever text: HTML in it is not interpreted. */
export function renderMarkdown(markdown: string, resolve: LinkResolver): RenderedMarkdown {
  const renderer = new MarkdownRenderer(resolve);
  const body = renderer.renderBlocks(new Lexer({ gfm: true }).lex(removeFrontMatter(markdown)));
  return { headings: renderer.headings, body };
}

/** The block of YAML that Agent Skills begin with. */
function removeFrontMatter(markdown: string): string {
  return markdown.replace(/^---\n[\s\S]*?\n---\n/, '');
}

class MarkdownRenderer {
  readonly headings: Heading[] = [];
  private readonly toId = createHeadingIds();
  private readonly resolve: LinkResolver;

  constructor(resolve: LinkResolver) {
    this.resolve = resolve;
  }

  renderBlocks(tokens: readonly Token[]): Markup {
    return (tokens as readonly Tokens.Generic[]).map((token) => this.renderBlock(token));
  }

  private renderBlock(token: Tokens.Generic): Markup {
    switch (token.type) {
      case 'heading':
        return this.renderHeading(token as Tokens.Heading);
      case 'paragraph':
        return el('p', {}, this.renderLine(token));
      case 'text':
        return this.renderLine(token);
      case 'list':
        return this.renderList(token as Tokens.List);
      case 'table':
        return renderTable(token as Tokens.Table, this.headings.at(-1)?.text ?? '', this.resolve);
      case 'code':
        return el('pre', {}, el('code', {}, token.text.trimEnd()));
      case 'blockquote':
        return el('blockquote', {}, this.renderBlocks(token.tokens ?? []));
      case 'hr':
        return el('hr');
      case 'html':
        return isComment(token.raw) ? null : el('p', {}, token.raw);
      default:
        return null;
    }
  }

  private renderHeading({ depth, tokens }: Tokens.Heading): Markup {
    const text = toPlainText(tokens);
    const id = this.toId(text);
    this.headings.push({ id, text, depth });
    return el(`h${depth}`, { id }, renderInline(tokens, this.resolve));
  }

  private renderList({ ordered, start, items }: Tokens.List): Markup {
    const entries = items.map(({ tokens }) => el('li', {}, this.renderBlocks(tokens)));
    return ordered ? el('ol', { start: start !== 1 && start }, entries) : el('ul', {}, entries);
  }

  private renderLine({ tokens, text }: Tokens.Generic): Markup {
    return tokens === undefined ? text : renderInline(tokens, this.resolve);
  }
}
