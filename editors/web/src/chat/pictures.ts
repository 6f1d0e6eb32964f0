// Pictures of messages: made small enough to send, and shown without giving the page a way to load anything.

import type { ChatPicture } from "../../../protocol";
import { element } from "../shell/dom";
import { visible } from "../shell/visible";

/** What models look at; more pixels only cost. */
const LONGEST_SIDE = 1568;
/** Larger files are encoded again. */
const AS_IT_IS_BYTES = 1_500_000;
const KNOWN = new Set(["image/png", "image/jpeg", "image/gif", "image/webp"]);
export const MOST_PICTURES = 8;

export function isPicture(file: File): boolean {
  return file.type.startsWith("image/");
}

/** Rejects what the browser cannot decode. */
export async function pictureOf(file: File): Promise<ChatPicture> {
  const bitmap = await createImageBitmap(file);
  const scale = Math.min(1, LONGEST_SIDE / Math.max(bitmap.width, bitmap.height));
  const isFine = scale === 1 && file.size <= AS_IT_IS_BYTES && KNOWN.has(file.type);
  const blob = isFine ? file : await encodedAgain(bitmap, scale, file.type === "image/jpeg" || file.size > AS_IT_IS_BYTES);
  bitmap.close();
  return { name: file.name.slice(0, 80) || "picture", mimeType: blob.type, data: await base64(blob) };
}

async function encodedAgain(bitmap: ImageBitmap, scale: number, isPhoto: boolean): Promise<Blob> {
  const canvas = element("canvas");
  canvas.width = Math.max(1, Math.round(bitmap.width * scale));
  canvas.height = Math.max(1, Math.round(bitmap.height * scale));
  canvas.getContext("2d")?.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  const made = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, isPhoto ? "image/jpeg" : "image/png", 0.85));
  if (made === null) {
    throw new Error("the browser cannot encode it");
  }
  return made;
}

async function base64(blob: Blob): Promise<string> {
  const bytes = new Uint8Array(await blob.arrayBuffer());
  let text = "";
  for (let at = 0; at < bytes.length; at += 0x8000) {
    text += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  }
  return btoa(text);
}

/** A small view of a picture. What cannot be decoded is only named. */
export function pictureView({ name, mimeType, data }: ChatPicture): HTMLElement {
  const canvas = element("canvas", { class: "picture", role: "img", "aria-label": `Picture: ${visible(name)}`, title: visible(name) });
  void draw(canvas, mimeType, data).catch(() => canvas.replaceWith(element("span", { class: "chip plain" }, visible(name))));
  return canvas;
}

async function draw(canvas: HTMLCanvasElement, type: string, data: string): Promise<void> {
  const bytes = Uint8Array.from(atob(data), (letter) => letter.charCodeAt(0));
  const bitmap = await createImageBitmap(new Blob([bytes], { type }));
  const scale = Math.min(1, 480 / Math.max(bitmap.width, bitmap.height));
  canvas.width = Math.max(1, Math.round(bitmap.width * scale));
  canvas.height = Math.max(1, Math.round(bitmap.height * scale));
  canvas.getContext("2d")?.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  bitmap.close();
}
