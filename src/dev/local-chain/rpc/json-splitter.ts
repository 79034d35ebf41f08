/** For JSON texts that follow each other without a separator, as in requests to anvil's IPC endpoint. */
export function createJsonSplitter(onJson: (text: string) => void): (chunk: string) => void {
  let text = '';
  let depth = 0;
  let inString = false;
  let escaped = false;
  return (chunk) => {
    let start = 0;
    for (let index = 0; index < chunk.length; index++) {
      const char = chunk[index];
      if (inString) {
        if (escaped) escaped = false;
        else if (char === '\\') escaped = true;
        else if (char === '"') inString = false;
      } else if (char === '"') inString = true;
      else if (char === '{' || char === '[') depth++;
      else if ((char === '}' || char === ']') && --depth === 0) {
        onJson(text + chunk.slice(start, index + 1));
        text = '';
        start = index + 1;
      }
    }
    text += chunk.slice(start);
  };
}
