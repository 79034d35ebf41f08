const FIN_TEXT = 0x81;
const MAX_SHORT_BYTES = 125;
const LENGTH_16 = 126;
const LENGTH_64 = 127;

/** A text message as one unmasked frame (RFC 6455, section 5.2): encoded once, written to many sockets. */
export function encodeTextFrame(text: string): Buffer {
  const bytes = Buffer.byteLength(text);
  const header = encodeHeader(bytes);
  const frame = Buffer.allocUnsafe(header.length + bytes);
  header.copy(frame);
  frame.write(text, header.length);
  return frame;
}

function encodeHeader(bytes: number): Buffer {
  if (bytes <= MAX_SHORT_BYTES) return Buffer.from([FIN_TEXT, bytes]);
  if (bytes <= 0xff_ff) return Buffer.from([FIN_TEXT, LENGTH_16, bytes >> 8, bytes & 0xff]);
  const header = Buffer.alloc(10);
  header[0] = FIN_TEXT;
  header[1] = LENGTH_64;
  header.writeBigUInt64BE(BigInt(bytes), 2);
  return header;
}
