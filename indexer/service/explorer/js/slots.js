// When a slot was. The ledger counts slots, people read times: what answers say about single slots is kept,
// and the slots between are reckoned from it. Pure.

/** The length of a slot before anything better is known, in milliseconds. */
export const SLOT_MS = 400;
const KEEP = 512;

/** Known moments of slots. */
export class SlotClock {
  constructor() {
    /** @type {{slot: number, at: number}[]} in the order of slots */
    this.known = [];
  }

  /**
   * Note when a slot was.
   *
   * @param {number|null} slot
   * @param {number|null} seconds Unix time
   */
  observe(slot, seconds) {
    if (!Number.isFinite(slot) || !Number.isFinite(seconds) || seconds <= 0) return;
    const at = seconds * 1000;
    const index = this.known.findIndex((mark) => mark.slot >= slot);
    if (index >= 0 && this.known[index].slot === slot) return;
    this.known.splice(index < 0 ? this.known.length : index, 0, { slot, at });
    // The newest and the oldest are worth most; thin out the middle.
    if (this.known.length > KEEP)
      this.known = this.known.filter((_, i, all) => i % 2 === 0 || i === all.length - 1);
  }

  /** Milliseconds of a slot, from the marks that lie far enough apart. */
  rate() {
    const first = this.known[0];
    const last = this.known.at(-1);
    if (!first || last.slot - first.slot < 200) return SLOT_MS;
    const rate = (last.at - first.at) / (last.slot - first.slot);
    return rate > 1 && rate < 5000 ? rate : SLOT_MS;
  }

  /**
   * When a slot was or will be.
   *
   * @returns {{at: number, exact: boolean}|null} milliseconds; null when nothing is known
   */
  at(slot) {
    if (!Number.isFinite(slot) || this.known.length === 0) return null;
    const index = this.known.findIndex((mark) => mark.slot >= slot);
    const above = this.known[index];
    if (above?.slot === slot) return { at: above.at, exact: true };
    const below = index < 0 ? this.known.at(-1) : this.known[index - 1];
    if (above && below) {
      const part = (slot - below.slot) / (above.slot - below.slot);
      return { at: Math.round(below.at + part * (above.at - below.at)), exact: false };
    }
    const mark = above ?? below;
    return { at: Math.round(mark.at + (slot - mark.slot) * this.rate()), exact: false };
  }
}
