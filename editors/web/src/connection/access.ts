// Whether this browser may talk to the hub. A link's secret is exchanged once for a session cookie, which the page
// itself never sees.

export type Access = { kind: "yes" } | { kind: "no"; why?: string } | { kind: "unknown" };

/** Removes the secret from the address, so that it is neither visible, copied nor kept in the browser's history. */
export function takeSecret(): string | null {
  const secret = location.hash.slice(1);
  if (secret === "") {
    return null;
  }
  history.replaceState(null, "", location.pathname);
  return secret;
}

export async function redeem(secret: string): Promise<Access> {
  const answer = await ask({
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ secret }),
  });
  if (answer === null) {
    return { kind: "unknown" };
  }
  if (answer.ok) {
    return { kind: "yes" };
  }
  // A link that was already used may have been used by this very browser.
  const why = await answer.text().catch(() => "");
  const session = await hasSession();
  return session.kind === "no" && why !== "" ? { kind: "no", why } : session;
}

export async function hasSession(): Promise<Access> {
  const answer = await ask({ method: "GET" });
  if (answer?.ok) {
    return { kind: "yes" };
  }
  return { kind: answer?.status === 401 || answer?.status === 403 ? "no" : "unknown" };
}

async function ask(request: RequestInit): Promise<Response | null> {
  try {
    const signal = AbortSignal.timeout(10_000);
    return await fetch("/session", { ...request, signal, cache: "no-store", credentials: "same-origin", redirect: "error" });
  } catch {
    return null;
  }
}
