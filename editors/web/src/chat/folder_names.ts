// Names of folders, told apart where several have the same. Pure.

import { split } from "../shell/labels";

/** The last part of a path, with as much before it as tells it from the others. */
export function nameOf(path: string, all: readonly string[]): string {
  const { name, folder } = split(path.replace(/\/$/, ""));
  const isAlone = all.every((other) => other === path || split(other.replace(/\/$/, "")).name !== name);
  return isAlone ? name : `${name} (${folder.replace(/\/$/, "")})`;
}
