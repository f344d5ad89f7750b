package exchange;

public class Order {
    public String item;
    public int count;

    public Order() {}

    public Order(String item, int count) {
        this.item = item;
        this.count = count;
    }
}
