// Builds elements. Text is inserted as text and attributes by name, so that foreign text is never parsed as markup.

type Attributes = Readonly<Record<string, string | boolean | undefined>>;
type Child = Node | string | undefined;

export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) {
      made.setAttribute(name, value === true ? "" : value);
    }
  }
  made.append(...children.filter((child) => child !== undefined));
  return made;
}

/** A button that does one thing; `data-action` names it. */
export function button(action: string, content: Child[], press: () => void, attributes: Attributes = {}): HTMLButtonElement {
  const made = element("button", { type: "button", "data-action": action, ...attributes }, ...content);
  made.addEventListener("click", () => {
    if (made.getAttribute("aria-disabled") !== "true") {
      press();
    }
  });
  return made;
}

/** One of the symbols in `index.html`, hidden from screen readers: a label next to it says what it means. */
export function icon(name: string): SVGSVGElement {
  const space = "http://www.w3.org/2000/svg";
  const drawing = document.createElementNS(space, "svg");
  drawing.setAttribute("class", "icon");
  drawing.setAttribute("aria-hidden", "true");
  const use = document.createElementNS(space, "use");
  use.setAttribute("href", `#i-${name}`);
  drawing.append(use);
  return drawing;
}

/** The element of `index.html` with this id. */
export function part<Made extends HTMLElement>(id: string, kind: new () => Made): Made {
  const found = document.getElementById(id);
  if (!(found instanceof kind)) {
    throw new Error(`the page has no ${id}`);
  }
  return found;
}

/** Sets the text only if it differs: screen readers announce every assignment. */
export function setText(node: Node, text: string): void {
  if (node.textContent !== text) {
    node.textContent = text;
  }
}

/** Marks a button as disabled but keeps it focusable. */
export function disable(made: HTMLButtonElement, disabled: boolean): void {
  if (disabled) {
    made.setAttribute("aria-disabled", "true");
  } else {
    made.removeAttribute("aria-disabled");
  }
}

/** Whether keys typed there are text. */
export function typesInto(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) {
    return false;
  }
  if (target.isContentEditable) {
    return target.closest("[aria-readonly=true]") === null;
  }
  return target.matches("textarea:not([readonly]), select, input:not([type=checkbox]):not([type=radio])");
}
