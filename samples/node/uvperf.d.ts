// SPDX-License-Identifier: MIT
export interface Options {
  pid?: number;      // a process; default: this one
  tid?: number;      // a thread; 0 is the calling thread
  interval?: number; // ms between two callbacks; default 1000
}
export interface SampleOptions extends Options {
  frequency?: number; // samples per second; default 99
  period?: number;    // instead of frequency: events (ns of a clock) per sample
  stacks?: boolean;
}
export interface Count {
  name: string;
  value: number | null; // null: not known
  unit: string;
  state: string;   // "counting", "gone", "not available" …
  ratio: number;   // the share of time in which the event was counted
  reason?: string; // why it could not be opened
}
export interface Sample {
  ip: bigint;
  time: bigint; // on the clock of process.hrtime.bigint()
  pid: number;
  tid: number;
  cpu: number;
  period: number;
  event?: number;   // index of the event
  stack?: bigint[]; // innermost first
}
export interface Handle {
  read(): Count[];
  close(): this;
  ref(): this;
  unref(): this;
}
// Returns the exported function of this process at an address, or the file that
// contains it (dladdr(3)). Returns undefined for JavaScript functions.
export function symbol(address: bigint): string | undefined;
export type CountCallback = (this: Handle, error: Error | null,
  counts: Count[], seconds: number) => void;
export type SampleCallback = (this: Handle, error: Error | null,
  samples: Sample[], lost: number) => void;
export function count(events: string, options?: Options,
  callback?: CountCallback): Promise<Handle>;
export function count(events: string, callback: CountCallback): Promise<Handle>;
export function sample(events: string, options: SampleOptions | undefined,
  callback: SampleCallback): Promise<Handle>;
export function sample(events: string, callback: SampleCallback):
  Promise<Handle>;
