const POLYNOMIAL = 0xedb88320;

const TABLE: Uint32Array = Uint32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte;
  for (let bit = 0; bit < 8; bit += 1) rest = (rest & 1) === 1 ? (rest >>> 1) ^ POLYNOMIAL : rest >>> 1;
  return rest;
});

/**
 * The CRC-32 of IEEE 802.3, as in gzip and PNG. It tells every change of a single byte. `previous` continues the
 * checksum of what came before. Node has one in `node:zlib`, but only from 22.2 on.
 */
export function crc32(bytes: Uint8Array, previous = 0): number {
  let rest = ~previous;
  for (const byte of bytes) rest = (TABLE[(rest ^ byte) & 0xff] ?? 0) ^ (rest >>> 8);
  return ~rest >>> 0;
}
