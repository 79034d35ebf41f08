/** A quoted scalar of YAML; in double quotes the escapes are those of JSON. */
export function quote(text: string): string {
  return text.includes('"') && !/['\\\n]/.test(text) ? `'${text}'` : JSON.stringify(text);
}

/** Lines `key: "value"` of a map, indented by spaces; keys that are no plain names are quoted. */
export function renderYamlMap(map: Readonly<Record<string, string>>, indent: number): string {
  const key = (name: string) => (/^[a-z_]+$/i.test(name) ? name : quote(name));
  return Object.entries(map)
    .map(([name, value]) => `${' '.repeat(indent)}${key(name)}: ${quote(value)}`)
    .join('\n');
}
