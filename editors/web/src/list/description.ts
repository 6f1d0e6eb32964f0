// The agent's description of a change, if its label says more than the file name. The Rust side has the same rule in
// `crates/editor-api/src/description.rs`.

import type { ReviewSummary } from "../../../protocol";
import { visible } from "../shell/visible";

/** Empty if there is none. */
export function description(summary: Pick<ReviewSummary, "label" | "path">): string {
  const label = summary.label.trim();
  const name = summary.path.slice(summary.path.lastIndexOf("/") + 1);
  if (label === "" || summary.path.endsWith(label)) {
    return "";
  }
  if (!label.includes(name)) {
    return visible(label);
  }
  const rest = label.replaceAll(name, " ").replaceAll("[Claude Code]", " ");
  const words = rest.split(/\s+/u).filter((word) => word.length > 1 && /^\p{Alphabetic}+$/u.test(word));
  return words.length > 1 ? visible(label) : "";
}
