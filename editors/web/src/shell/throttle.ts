// Runs an action once for many requests that come close together.

/** A hidden page gets no animation frames: then a timer runs the action a little later. */
const UNSEEN_MS = 250;

/** Runs `act` before the next frame, however often it is requested. */
export function oncePerFrame(act: () => void): () => void {
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

/** Runs `act` once, `forMs` after the first value, with all values given by then. */
export function batch<Given>(forMs: number, act: (all: Given[]) => void): (given: Given) => void {
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
