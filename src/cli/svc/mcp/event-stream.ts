/** The data of each event of a Server-Sent Events body; comments and other fields are skipped (HTML standard, section 9.2). */
export async function* readEventData(body: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const bytes of body) {
    const events = `${rest}${decoder.decode(bytes, { stream: true })}`.replaceAll('\r\n', '\n').split('\n\n');
    rest = events.pop() ?? '';
    for (const event of events) {
      const data = event.split('\n').flatMap((line) => (line.startsWith('data:') ? line.slice(5).replace(/^ /, '') : []));
      if (data.length > 0) yield data.join('\n');
    }
  }
}
