// Doing once what many ask for within a moment.

/** No frame comes while the page is not seen: then it is done all the same, a little later. */
const UNSEEN_MS = 250;

/** Before the next picture, however often it is asked for. */
export function onceAFrame(act: () => void): () => void {
  let frame: number | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const now = (): void => {
    if (frame !== undefined) cancelAnimationFrame(frame);
    clearTimeout(timer);
    frame = undefined;
    act();
  };
  return () => {
    if (frame === undefined) {
      frame = requestAnimationFrame(now);
      timer = setTimeout(now, UNSEEN_MS);
    }
  };
}

/** A while after it was first asked for, with all that was given meanwhile. */
export function gathered<Given>(forMs: number, act: (all: Given[]) => void): (given: Given) => void {
  let all: Given[] = [];
  return (given) => {
    all.push(given);
    if (all.length === 1) {
      setTimeout(() => {
        const taken = all;
        all = [];
        act(taken);
      }, forMs);
    }
  };
}
