/** What a server's frames carry, read as they come in. */
export interface FrameListener {
  text(payload: Buffer): void;
  ping(payload: Buffer): void;
  close(code: number): void;
}

/**
 * Reads unmasked frames (RFC 6455, section 5.2) from the pieces of a stream. Made for measuring: a client that costs little, and takes
 * no message in parts.
 */
export function frameReader(listener: FrameListener): (piece: Buffer) => void {
  let rest: Buffer | null = null;
  return (piece) => {
    const bytes = rest === null ? piece : Buffer.concat([rest, piece]);
    let at = 0;
    for (;;) {
      const frame = frameAt(bytes, at);
      if (frame === null) break;
      notify(listener, frame);
      at = frame.end;
    }
    rest = at === bytes.length ? null : bytes.subarray(at);
  };
}

interface Frame {
  opcode: number;
  payload: Buffer;
  end: number;
}

/** The frame that begins there; null while it is not there as a whole. */
function frameAt(bytes: Buffer, at: number): Frame | null {
  if (bytes.length < at + 2) return null;
  const short = bytes[at + 1] & 0x7f;
  const from = at + (short === 126 ? 4 : short === 127 ? 10 : 2);
  if (bytes.length < from) return null;
  const length = short === 126 ? bytes.readUInt16BE(at + 2) : short === 127 ? Number(bytes.readBigUInt64BE(at + 2)) : short;
  const end = from + length;
  return bytes.length < end ? null : { opcode: bytes[at] & 0x0f, payload: bytes.subarray(from, end), end };
}

function notify(listener: FrameListener, { opcode, payload }: Frame): void {
  if (opcode === 1) listener.text(payload);
  else if (opcode === 9) listener.ping(payload);
  else if (opcode === 8) listener.close(payload.length < 2 ? 1005 : payload.readUInt16BE(0));
}

/** A client's pong: masked, as a client's frames must be; under a mask of zeros the payload stands as it is. */
export function pongFrame(payload: Buffer): Buffer {
  return Buffer.concat([Buffer.from([0x8a, 0x80 | payload.length, 0, 0, 0, 0]), payload]);
}
