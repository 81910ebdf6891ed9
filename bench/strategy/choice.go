package strategy

// Choice picks a strategy by the protocol of a hop: one for a connection that many requests share, one for a connection that each request
// has to itself.
type Choice struct {
	By          Hop      `json:"by"`
	Multiplexed Strategy `json:"multiplexed"`
	Otherwise   Strategy `json:"otherwise"`
}

// Hop is whose protocol decides.
type Hop string

const (
	// LastHop is the one that the browser sees. It knows the protocol only once the page's first search request has been answered;
	// until then it takes it that nothing multiplexes.
	LastHop Hop = "last-hop"
	// ServerHop is what the dashboard server itself speaks. It tells the page before anything is asked. Behind a proxy it can be the wrong hop to go by.
	ServerHop Hop = "server"
)

// On is the plain strategy that a search follows, by what is known of the hop that decides: when the search began, and now. As in Kibana, whether to sleep
// between polls is settled when a search begins, but for how long a poll may be held is asked anew for each. So a search that began before
// the protocol was known sleeps once more and then polls long.
func (s Strategy) On(multiplexedThen, multiplexedNow bool) Strategy {
	if s.Choice == nil {
		return s
	}
	pick := func(multiplexed bool) Strategy {
		if multiplexed {
			return s.Choice.Multiplexed
		}
		return s.Choice.Otherwise
	}
	plain := pick(multiplexedThen)
	now := pick(multiplexedNow)
	plain.PollWait, plain.Poll = now.PollWait, now.Poll
	plain.Name, plain.Retry = s.Name, s.Retry
	return plain
}

// Told is what a page knows before it has asked for anything: whether its connection multiplexes, for all that the dashboard server says of its
// own protocol, if the strategy goes by that.
func (s Strategy) Told(server bool) bool {
	return server && s.Choice != nil && s.Choice.By == ServerHop
}

// Learnt is what a page that knew so much knows once a search has been answered over the last hop.
func (s Strategy) Learnt(known, lastHop bool) bool {
	if s.Choice != nil && s.Choice.By == LastHop {
		return lastHop
	}
	return known
}

func (c Choice) describe() string {
	when := "where the browser's connection is h2, after a first sleep, since an answer has to show it"
	if c.By == ServerHop {
		when = "where the dashboard server speaks h2"
	}
	return c.Multiplexed.Name + " " + when + ", else " + c.Otherwise.Name
}
