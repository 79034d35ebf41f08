/** An element or text as XML source: what callers nest is escaped already. */
export type Xml = string & { readonly isXml: unique symbol };

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
/** XML 1.0 has no way to write these. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is removed
const UNWRITABLE = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g;

export function escapeXml(text: string): Xml {
  return text.replaceAll(UNWRITABLE, '').replaceAll(/[&<>"]/g, (character) => ENTITIES[character]!) as Xml;
}

/** @param name and names of attributes: constants of the caller */
export function xml(name: string, attributes: Readonly<Record<string, string>>, ...content: readonly Xml[]): Xml {
  const head = [name, ...Object.entries(attributes).map(([key, value]) => `${key}="${escapeXml(value)}"`)].join(' ');
  return (content.length === 0 ? `<${head}/>` : `<${head}>${content.join('')}</${name}>`) as Xml;
}

/** An element with text. */
export function xmlText(name: string, text: string, attributes: Readonly<Record<string, string>> = {}): Xml {
  return xml(name, attributes, escapeXml(text));
}
