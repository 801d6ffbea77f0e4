// SPDX-License-Identifier: MIT
export interface Options {
  pid?: number;      // a process; without pid and tid this one
  tid?: number;      // a thread; 0 is the calling one
  interval?: number; // ms between two callbacks; 1000
}
export interface SampleOptions extends Options {
  frequency?: number; // samples a second; 99
  period?: number;    // instead: a sample each so many events, ns of a clock
  stacks?: boolean;
}
export interface Count {
  name: string;
  value: number | null; // null: not known
  unit: string;
  state: string;   // "counting", "gone", "not available" …
  ratio: number;   // the part of the time in which it was on a counter
  reason?: string; // why it could not be opened
}
export interface Sample {
  ip: bigint;
  time: bigint; // as of process.hrtime.bigint()
  pid: number;
  tid: number;
  cpu: number;
  period: number;
  event?: number;   // which of the events, from 0
  stack?: bigint[]; // innermost first
}
export interface Handle {
  read(): Count[];
  close(): this;
  ref(): this;
  unref(): this;
}
// Of this process, as dladdr(3) knows it: a function that is exported, else the
// file it is in. undefined for JavaScript's functions.
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
