/** Attempts and time of a new delivery, which takes over from those of its record that wait. Pure. */

export interface WaitingDelivery {
  readonly attempts: number;
  readonly nextAt: number;
  /** Null: it is not being sent. */
  readonly claim: string | null;
}

/** `waiting`: in the order of their changes. */
export function chooseDeliveryPlace(waiting: readonly WaitingDelivery[], now: number) {
  let place = { attempts: 0, nextAt: now };
  for (const { attempts, nextAt, claim } of waiting) {
    // One that is being sent stays, and the new one waits for its end.
    if (claim !== null) place = { attempts: 0, nextAt };
    // One that was never tried has a later time only if the clock was set back.
    else place = { attempts, nextAt: attempts === 0 ? Math.min(nextAt, place.nextAt) : nextAt };
  }
  return place;
}
