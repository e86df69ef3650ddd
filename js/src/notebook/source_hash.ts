/**
 * SHA-256 without a promise: a cell is compared and changed in one go, and `crypto.subtle` is
 * missing on plain http pages.
 */

const BLOCK_BYTES = 64;
const HASH_DIGITS = 16;

/** Sixteen hex digits that name a cell's source; the same as Python's `cells.source_hash`. */
export function sourceHash(source: string): string {
  return sha256(utf8(source)).slice(0, HASH_DIGITS);
}

/** Like Python's `surrogatepass`: half of a surrogate pair becomes three bytes of its own. */
function utf8(text: string): number[] {
  const bytes: number[] = [];
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    if (code < 0x80) {
      bytes.push(code);
    } else if (code < 0x800) {
      bytes.push(0xc0 | (code >> 6), tail(code));
    } else if (code < 0x10000) {
      bytes.push(0xe0 | (code >> 12), tail(code >> 6), tail(code));
    } else {
      bytes.push(0xf0 | (code >> 18), tail(code >> 12), tail(code >> 6), tail(code));
    }
  }
  return bytes;
}

function tail(code: number): number {
  return 0x80 | (code & 0x3f);
}

function sha256(bytes: number[]): string {
  const view = padded(bytes);
  const state = Uint32Array.from(INITIAL_STATE);
  const words = new Uint32Array(BLOCK_BYTES);
  for (let offset = 0; offset < view.byteLength; offset += BLOCK_BYTES) {
    schedule(view, offset, words);
    compress(state, words);
  }
  return Array.from(state, word => word.toString(16).padStart(8, '0')).join('');
}

/** The message, a one bit, zeros, and the message's length in bits in the last eight bytes. */
function padded(bytes: number[]): DataView {
  const length = Math.ceil((bytes.length + 9) / BLOCK_BYTES) * BLOCK_BYTES;
  const message = new Uint8Array(length);
  message.set(bytes);
  message[bytes.length] = 0x80;
  const view = new DataView(message.buffer);
  view.setUint32(length - 8, Math.floor((bytes.length * 8) / 2 ** 32));
  view.setUint32(length - 4, bytes.length * 8);
  return view;
}

function schedule(view: DataView, offset: number, words: Uint32Array): void {
  for (let index = 0; index < 16; index++) {
    words[index] = view.getUint32(offset + index * 4);
  }
  for (let index = 16; index < words.length; index++) {
    const early = at(words, index - 15);
    const late = at(words, index - 2);
    const first = rotate(early, 7) ^ rotate(early, 18) ^ (early >>> 3);
    const second = rotate(late, 17) ^ rotate(late, 19) ^ (late >>> 10);
    words[index] = at(words, index - 16) + first + at(words, index - 7) + second;
  }
}

function compress(state: Uint32Array, words: Uint32Array): void {
  let [a, b, c, d, e, f, g, h] = Array.from(state) as EightWords;
  for (let index = 0; index < words.length; index++) {
    const high = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
    const choice = (e & f) ^ (~e & g);
    const first = (h + high + choice + at(ROUND_CONSTANTS, index) + at(words, index)) | 0;
    const low = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
    const majority = (a & b) ^ (a & c) ^ (b & c);
    h = g;
    g = f;
    f = e;
    e = (d + first) | 0;
    d = c;
    c = b;
    b = a;
    a = (first + low + majority) | 0;
  }
  for (const [index, word] of [a, b, c, d, e, f, g, h].entries()) {
    state[index] = at(state, index) + word;
  }
}

type EightWords = [number, number, number, number, number, number, number, number];

function rotate(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits));
}

function at(words: Uint32Array, index: number): number {
  return words[index] ?? 0;
}

/** The first 32 bits of the fractional part of a root. */
function fraction(root: number): number {
  return ((root - Math.floor(root)) * 2 ** 32) | 0;
}

function primes(count: number): number[] {
  const found: number[] = [];
  for (let candidate = 2; found.length < count; candidate++) {
    if (found.every(prime => candidate % prime !== 0)) {
      found.push(candidate);
    }
  }
  return found;
}

const INITIAL_STATE = Uint32Array.from(primes(8), prime => fraction(Math.sqrt(prime)));
const ROUND_CONSTANTS = Uint32Array.from(primes(64), prime => fraction(Math.cbrt(prime)));
