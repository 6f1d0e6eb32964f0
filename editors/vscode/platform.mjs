// The platform that a program is built for, from the header of its file: ELF or Mach-O.

const ELF_MACHINES = { 0x3e: "x64", 0xb7: "arm64" };
const MACH_MACHINES = { 0x01000007: "x64", 0x0100000c: "arm64" };
const INTERPRETER = 3;

/** Such as `linux x64`; undefined for anything else. Needs the first 4 KiB. */
export function platformOf(head) {
  const uint16 = (at) => (at + 2 <= head.length ? head.readUInt16LE(at) : undefined);
  const uint32 = (at) => (at + 4 <= head.length ? head.readUInt32LE(at) : undefined);
  const magic = head.length >= 4 ? head.readUInt32BE(0) : undefined;
  if (magic === 0x7f454c46) {
    const system = needsInterpreter(head, uint16, uint32) ? "linux" : "linux-static";
    return named(system, ELF_MACHINES[uint16(18)]);
  }
  if (magic === 0xcffaedfe) {
    return named("darwin", MACH_MACHINES[uint32(4)]);
  }
  if (magic === 0xcafebabe) {
    return "darwin universal";
  }
  return undefined;
}

/** A program without a loader is statically linked, and runs with any C library. */
function needsInterpreter(head, uint16, uint32) {
  const [table, size, count] = [uint32(32), uint16(54), uint16(56)];
  const headers = Array.from({ length: Math.min(count ?? 0, 64) }, (_, index) => uint32(table + index * size));
  return headers.includes(INTERPRETER);
}

function named(system, machine) {
  return machine === undefined ? undefined : `${system} ${machine}`;
}
