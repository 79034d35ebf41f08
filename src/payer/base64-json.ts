/** JSON in UTF-8 as base64, as the headers of x402 carry it. @throws SyntaxError, DOMException for anything else */
export function decodeBase64Json(text: string): unknown {
  return JSON.parse(new TextDecoder().decode(Uint8Array.from(atob(text), (character) => character.charCodeAt(0))));
}

export function encodeBase64Json(value: unknown): string {
  const bytes = new TextEncoder().encode(JSON.stringify(value));
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
}
