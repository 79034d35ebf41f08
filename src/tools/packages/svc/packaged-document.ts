/** Where documents of the project are in the package. */
export const PACKAGED_DOCUMENTS: Readonly<Record<string, string>> = { 'CLI.md': 'README.md', 'AUDIT.md': 'AUDIT.md' };

/** A document of `docs/` as it stands in the package: what does not come along is named instead of linked. */
export function renderPackagedDocument(text: string): string {
  return text.replace(/\[([^\]]+)\]\((?!https?:|#)([^)#]+)(#[^)]*)?\)/g, (_, words: string, path: string, anchor = '') => {
    const packaged = PACKAGED_DOCUMENTS[path];
    if (packaged !== undefined) return `[${words === path ? packaged : words}](${packaged}${anchor})`;
    return words === path ? `\`docs/${path}\` of the service` : `${words} (\`docs/${path}\` of the service)`;
  });
}
